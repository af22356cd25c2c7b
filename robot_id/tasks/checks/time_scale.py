"""The rate of a recording whose clock nothing else tells: seen by gravity against inertia."""

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
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.hypothesis import Hypothesis

THRESHOLD = 1.0
# Factors on the time, and steps of the refinement.
COARSE, FINE = (0.1, 0.2, 0.3, 0.5, 0.75, 1.3, 2.0, 3.3, 5.0, 10.0), (1.2, 1.1, 1.05, 1.03)
# A factor nearer to one is no wrong rate, but inertias that are only roughly right.
SMALLEST = 1.15


def propose(case: Case) -> Iterator[Proposal]:
    """Scan the factor on the time, and refine what gains: inertia changes, gravity does not."""
    best = max(map(_at(case), COARSE), key=lambda each: each.screened)
    if best.screened < 0.3 * THRESHOLD:
        return
    for step in FINE:
        scale = best.hypothesis.time_scale
        best = max(best, *map(_at(case), (scale * step, scale / step)), key=lambda p: p.screened)
    if abs(np.log(best.hypothesis.time_scale)) > np.log(SMALLEST):
        yield best


def _at(case: Case):  # type: ignore[no-untyped-def]
    def at(scale: float) -> Proposal:
        change = Hypothesis(time_scale=scale)
        return proposal(case, 'time_unit', change, _finding(case, scale), THRESHOLD)

    return at


def _finding(case: Case, scale: float):  # type: ignore[no-untyped-def]
    # No remedy: the rate is found to some percent only, its owner knows it.
    def make(found: Proposal) -> Finding:
        rate = case.dataset.rate / scale
        return Finding(
            'time_unit',
            None,
            certainty(found.gain, found.threshold),
            f'the samples are of about {rate:.3g} Hz, not {case.dataset.rate:.4g}: with this rate '
            f'the {improvement(case, found)}',
            f'rate_hz: {rate:.3g} without a time column, or the unit of the time, in the mapping',
        )

    return make
