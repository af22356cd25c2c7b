"""The sign of the torques: friction must take power, and bodies resist acceleration."""

from __future__ import annotations

from collections.abc import Iterator

from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis, only

THRESHOLD = 0.7


def propose(case: Case) -> Iterator[Proposal]:
    """Try the opposite sign of all torques, of one torque, and of one position."""
    n = case.robot.n
    yield _flipped(case, tuple(range(n)))
    single = [_flipped(case, (j,)) for j in range(n) if n > 1]
    yield from single
    yield from _several(case, single)
    for j in range(n):
        hypothesis = Hypothesis(position_scale=only(n, j, -1.0, 1.0))
        both = Hypothesis(position_scale=only(n, j, -1.0, 1.0), torque_scale=only(n, j, -1.0, 1.0))
        for each in (hypothesis, both):
            # The sign of a position is seldom wrong: it has to explain more than a torque's.
            make = _position(case, j, each)
            yield proposal(case, 'position_sign', each, make, 2 * THRESHOLD, (j,))


def _several(case: Case, single: list[Proposal]) -> Iterator[Proposal]:
    """Add joint after joint, as long as each gains what a flip by itself would have to."""
    order = sorted(range(len(single)), key=lambda j: -single[j].screened)
    if not order:
        return
    best = single[order[0]]
    chosen: tuple[int, ...] = (order[0],)
    for j in order[1:-1]:
        if single[j].screened < 0.5 * single[j].threshold:
            break
        more = _flipped(case, tuple(sorted((*chosen, j))))
        if more.screened > best.screened + more.threshold:
            best, chosen = more, tuple(sorted((*chosen, j)))
    if len(chosen) > 1:
        yield best


def _flipped(case: Case, joints: tuple[int, ...]) -> Proposal:
    """Return the opposite sign of some torques."""
    signs = tuple(-1.0 if j in joints else 1.0 for j in range(case.robot.n))
    hypothesis = Hypothesis(torque_scale=signs)
    make = _torque(case, joints, signs)
    return proposal(case, 'torque_sign', hypothesis, make, THRESHOLD, joints)


def _torque(case: Case, joints: tuple[int, ...], signs: tuple[float, ...]):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        names = ', '.join(f"'{case.names[j]}'" for j in joints)
        whose = 'its torque has' if len(joints) == 1 else f'the torques of {names} have'
        if len(joints) == case.robot.n:
            whose = 'all torques have'
        return Finding(
            'torque_sign',
            case.names[joints[0]] if len(joints) == 1 < case.robot.n else None,
            certainty(found.gain, found.threshold),
            f'{whose} the wrong sign: only with the opposite sign friction dissipates energy and '
            f'bodies resist acceleration; the {improvement(case, found)}',
            f'torque.scale: [{", ".join(f"{s:g}" for s in signs)}] in the mapping (times the '
            'present value)',
            Remedy(torque_scale=signs),
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
