"""Gear ratios: one that is ten times off, or torques of the motor side taken for the joint's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis, only
from robot_id.tasks.checks.torque_scale import KNOWN

THRESHOLD = 1.0
# Of the torque alone where nothing knows its size: only its coupling to the others speaks.
UNSIZED = 2.0
FACTORS = (10.0, 0.1)
# Factors on the position alone, and steps of the refinement; smaller ones are calibration.
COARSE, FINE, SMALLEST = (0.1, 0.3, 0.55, 1.8, 3.3, 10.0), (1.35, 1.15, 1.07, 1.03), 1.15


def propose(case: Case) -> Iterator[Proposal]:
    """Try ten times more or less of one joint's torque, of both, or any factor on its position."""
    n = case.robot.n
    nominal = case.models.nominal
    # Where the prior model knows the size of a torque it is judged by that, not by a search.
    sized = nominal.scale_std < KNOWN * np.abs(nominal.scale)
    # A joint at rest shows nothing of its gear.
    for j in np.flatnonzero(case.signals.moving).tolist():
        for factor in FACTORS:
            torque, position = only(n, j, factor, 1.0), only(n, j, 1.0 / factor, 1.0)
            for hypothesis in (
                Hypothesis(torque_scale=torque),
                Hypothesis(position_scale=position, torque_scale=torque),
            ):
                if sized[j] and hypothesis.position_scale is None:
                    continue
                make = _finding(case, j, factor, hypothesis)
                alone = hypothesis.position_scale is None
                needed = UNSIZED if alone else THRESHOLD
                yield proposal(case, 'gear_ratio', hypothesis, make, needed, (j,))
        yield from _position(case, j)


def _position(case: Case, j: int) -> Iterator[Proposal]:
    """Scan the factor on the position of one joint, and refine what gains."""

    def at(factor: float) -> tuple[float, Proposal]:
        change = Hypothesis(position_scale=only(case.robot.n, j, factor, 1.0))
        make = _finding(case, j, 1.0 / factor, change)
        return factor, proposal(case, 'gear_ratio', change, make, THRESHOLD, (j,))

    best = max(map(at, COARSE), key=lambda each: each[1].screened)
    if best[1].screened < 0.3 * THRESHOLD:
        return
    for step in FINE:
        tried = [at(best[0] * step), at(best[0] / step)]
        best = max(best, *tried, key=lambda each: each[1].screened)
    if max(best[0], 1.0 / best[0]) > SMALLEST:
        yield best[1]


def _finding(case: Case, j: int, factor: float, hypothesis: Hypothesis):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        keys = []
        if hypothesis.position_scale:
            keys.append(f'position.scale {1 / factor:.3g}')
        if hypothesis.torque_scale:
            keys.append(f'torque.scale {factor:g}')
        return Finding(
            'gear_ratio',
            case.names[j],
            certainty(found.gain, found.threshold),
            f'its gear ratio is {factor if factor > 1 else 1 / factor:.3g} times too '
            f'{"small" if factor > 1 else "large"}: with the correct one the '
            f'{improvement(case, found)}',
            f'{" and ".join(keys)} for entry {j + 1} in the mapping (times the present value)',
            Remedy(position_scale=hypothesis.position_scale, torque_scale=hypothesis.torque_scale),
        )

    return make
