"""The sign of the torques: friction must take power, and bodies resist acceleration."""

from __future__ import annotations

from collections.abc import Iterator

from robot_id.experiment.check.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.experiment.check.finding import Finding, Remedy
from robot_id.experiment.check.hypothesis import Hypothesis, only

THRESHOLD = 0.7


def propose(case: Case) -> Iterator[Proposal]:
    """Try the opposite sign of all torques, of one torque, and of one position."""
    n = case.robot.n
    flips: list[tuple[int | None, Hypothesis]] = [(None, Hypothesis(torque_scale=(-1.0,) * n))]
    flips += [(j, Hypothesis(torque_scale=only(n, j, -1.0, 1.0))) for j in range(n) if n > 1]
    for j, hypothesis in flips:
        yield proposal(case, 'torque_sign', hypothesis, _torque(case, j, hypothesis), THRESHOLD)
    for j in range(n):
        hypothesis = Hypothesis(position_scale=only(n, j, -1.0, 1.0))
        both = Hypothesis(position_scale=only(n, j, -1.0, 1.0), torque_scale=only(n, j, -1.0, 1.0))
        for each in (hypothesis, both):
            # The sign of a position is seldom wrong: it has to explain more than a torque's.
            make = _position(case, j, each)
            yield proposal(case, 'position_sign', each, make, 2 * THRESHOLD)


def _torque(case: Case, j: int | None, hypothesis: Hypothesis):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        whose = 'all torques' if j is None else 'its torque'
        signs = [f'{s:g}' for s in hypothesis.torque_scale or ()]
        return Finding(
            'torque_sign',
            None if j is None else case.names[j],
            certainty(found.gain, found.threshold),
            f'{whose} has the wrong sign: only with the opposite one friction takes power and '
            f'bodies resist acceleration; the {improvement(case, found)}',
            f'torque.scale: [{", ".join(signs)}] in the mapping (times the present value)',
            Remedy(torque_scale=hypothesis.torque_scale),
        )

    return make


def _position(case: Case, j: int, hypothesis: Hypothesis):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        what = 'position and torque' if hypothesis.torque_scale else 'position'
        signs = ', '.join(f'{s:g}' for s in hypothesis.position_scale or ())
        keys = 'position.scale' + (' and torque.scale' if hypothesis.torque_scale else '')
        return Finding(
            'position_sign',
            case.names[j],
            certainty(found.gain, found.threshold),
            f'its {what} count against the axis of the robot file: with the opposite sign the '
            f'{improvement(case, found)}',
            f'{keys}: [{signs}] in the mapping (times the present value)',
            Remedy(position_scale=hypothesis.position_scale, torque_scale=hypothesis.torque_scale),
        )

    return make
