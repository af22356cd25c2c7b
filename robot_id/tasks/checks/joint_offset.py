"""The zero of a joint: an encoder or a robot file with another zero."""

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

THRESHOLD = 1.0
COARSE = np.deg2rad([-135.0, -90.0, -45.0, 45.0, 90.0, 135.0, 180.0])
# Steps of the refinement around the best of these, rad.
FINE = np.deg2rad([22.0, 11.0, 5.0, 2.0])
# Offsets of the size of usual calibration errors are ignored.
SMALLEST = np.deg2rad(8.0)


def propose(case: Case) -> Iterator[Proposal]:
    """Scan the zero of each turning joint, and refine what gains."""
    for j in np.flatnonzero(~case.robot.prismatic):
        tried = [_at(case, int(j), float(offset)) for offset in COARSE]
        best = max(tried, key=lambda each: each.screened)
        if best.screened < 0.3 * THRESHOLD:
            continue
        for step in FINE:
            offset = best.hypothesis.offset[j] if best.hypothesis.offset else 0.0
            tried = [_at(case, int(j), offset + step), _at(case, int(j), offset - step)]
            best = max(best, *tried, key=lambda each: each.screened)
        if abs(best.hypothesis.offset[j] if best.hypothesis.offset else 0.0) > SMALLEST:
            yield best


def _at(case: Case, j: int, offset: float) -> Proposal:
    hypothesis = Hypothesis(offset=only(case.robot.n, j, offset, 0.0))
    return proposal(case, 'joint_offset', hypothesis, _finding(case, j, offset), THRESHOLD)


def _finding(case: Case, j: int, offset: float):  # type: ignore[no-untyped-def]
    quarter = round(offset / (np.pi / 2)) * np.pi / 2
    exact = quarter if abs(offset - quarter) < np.deg2rad(4.0) and quarter else offset

    def make(found: Proposal) -> Finding:
        values = ', '.join(f'{v:.5g}' for v in only(case.robot.n, j, exact, 0.0))
        return Finding(
            'joint_offset',
            case.names[j],
            certainty(found.gain, found.threshold),
            f'its zero is off: with {np.rad2deg(exact):.4g} degrees added to the position the '
            f'{improvement(case, found)}',
            f'position.offset: [{values}] in the mapping (added to the present value)',
            Remedy(position_offset=only(case.robot.n, j, float(exact), 0.0)),
        )

    return make
