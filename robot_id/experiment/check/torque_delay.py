"""The delay between torque and motion: two loggers, or a drive that reports late."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from robot_id.experiment.check.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.experiment.check.finding import Finding, Remedy
from robot_id.experiment.check.hypothesis import Hypothesis

Array = NDArray[np.float64]

THRESHOLD = 0.25
# Less than a sample is what a held command and a logger bring, and `identify` takes it out itself;
# more than this, and seconds, is a delay.
# A torque ahead of the motion has to be further: friction that lets go late looks like it.
SAMPLES, LATE, AHEAD = 0.85, 0.005, 0.015
COARSE = (-0.05, -0.025, -0.01, 0.0, 0.01, 0.025, 0.05, 0.08, 0.12)
FINE = (0.01, 0.005)
# Friction that lags behind the motion looks like a delay of its joint, each joint another one: a
# true delay is that of most joints.
WIDTH = 0.008
SAME, SAME_SHARE, MOST = 0.003, 0.3, 0.6


def propose(case: Case) -> Iterator[Proposal]:
    """Scan the delay of all torques, and propose what most joints agree on."""
    best = max((_at(case, delay) for delay in COARSE), key=lambda each: each.screened)
    for step in FINE:
        delay = best.hypothesis.delay
        tried = [_at(case, delay + step), _at(case, delay - step)]
        best = max(best, *tried, key=lambda each: each.screened)
    own = joint_delays(case, best.hypothesis.delay)[case.signals.moving]
    delay = float(np.median(own))
    agree = np.abs(own - delay) < max(SAME, SAME_SHARE * abs(delay))
    large = abs(delay) > max(SAMPLES / case.dataset.rate, LATE if delay > 0 else AHEAD)
    if large and agree.mean() >= MOST:
        yield _at(case, delay)


def joint_delays(case: Case, around: float) -> Array:
    """(n,) the delay of each joint by itself: the lowest point of a parabola, s."""
    residuals = case.models.best_residuals
    before, middle, after = (
        residuals(Hypothesis(delay=around + shift)) ** 2 for shift in (-WIDTH, 0.0, WIDTH)
    )
    bend = np.maximum(before - 2 * middle + after, 1e-12)
    return around + np.clip(0.5 * WIDTH * (before - after) / bend, -2 * WIDTH, 2 * WIDTH)


def _at(case: Case, delay: float) -> Proposal:
    hypothesis = Hypothesis(delay=delay)
    return proposal(case, 'torque_delay', hypothesis, _finding(case, delay), THRESHOLD)


def _finding(case: Case, delay: float):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        way = 'late' if delay > 0 else 'ahead'
        return Finding(
            'torque_delay',
            None,
            certainty(found.gain, found.threshold),
            f'the torque is recorded {1e3 * abs(delay):.3g} ms {way} of the position: when '
            f'corrected, the {improvement(case, found)}',
            f'torque.delay: {delay:.4g} (seconds) in the mapping',
            Remedy(torque_delay=delay),
        )

    return make
