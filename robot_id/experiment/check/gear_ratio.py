"""Gear ratios: one that is ten times off, or torques of the motor side taken for the joint's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_id.experiment.check.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.experiment.check.finding import Finding, Remedy
from robot_id.experiment.check.hypothesis import Hypothesis, only
from robot_id.experiment.check.torque_scale import KNOWN

THRESHOLD = 1.0
# Of the torque alone where nothing knows its size: only its coupling to the others speaks.
UNSIZED = 2.0
FACTORS = (10.0, 0.1)


def propose(case: Case) -> Iterator[Proposal]:
    """Try ten times more or less of one joint: its torque, its position, or both."""
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
                Hypothesis(position_scale=position),
                Hypothesis(position_scale=position, torque_scale=torque),
            ):
                if sized[j] and hypothesis.position_scale is None:
                    continue
                make = _finding(case, j, factor, hypothesis)
                alone = hypothesis.position_scale is None
                needed = UNSIZED if alone else THRESHOLD
                yield proposal(case, 'gear_ratio', hypothesis, make, needed, (j,))


def _finding(case: Case, j: int, factor: float, hypothesis: Hypothesis):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        keys = []
        if hypothesis.position_scale:
            keys.append(f'position.scale {1 / factor:g}')
        if hypothesis.torque_scale:
            keys.append(f'torque.scale {factor:g}')
        return Finding(
            'gear_ratio',
            case.names[j],
            certainty(found.gain, found.threshold),
            f'its gear ratio is {factor if factor > 1 else 1 / factor:g} times too '
            f'{"small" if factor > 1 else "large"}: with the correct one the '
            f'{improvement(case, found)}',
            f'{" and ".join(keys)} for entry {j + 1} in the mapping (times the present value)',
            Remedy(position_scale=hypothesis.position_scale, torque_scale=hypothesis.torque_scale),
        )

    return make
