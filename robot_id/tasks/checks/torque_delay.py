"""
The delay between torque and motion: two loggers, or a drive that reports late.

A long delay is found by trying some; a short one, which explains little where much is unmodelled,
by the estimate that `identify` uses too (`regression.preprocessing.alignment`). That estimate also
tells whether a delay is gone once it is taken out: what unmodelled effects make up is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.joint_side import PD_NOTE
from robot_id.data.signals.processing import Processing
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.regression.preprocessing.alignment import align
from robot_id.regression.preprocessing.torque_delay import GONE, TimeOffset
from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis
from robot_id.tasks.checks.models import Models
from robot_id.tasks.checks.trial import rms

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
# A joint whose own delay has a larger deviation than this share of the common one knows nothing.
VAGUE = 1.0 / 3.0
# Far from its reversals a joint has this share of its rms speed.
FAST = 0.4
# Deviations that an estimated delay needs.
SIGNIFICANT = 4.0


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
    if _large(case, delay) and agree.mean() >= MOST:
        yield _at(case, delay)


def detect(case: Case) -> list[Finding]:
    """Return the finding of a delay that is estimated with the parameters, where joints agree."""
    offset = align(case.robot, case.dataset, 'auto').offset
    if offset is None or not _large(case, offset.seconds) or not _agree(offset):
        return []
    delay, deviation = offset.seconds, offset.deviation
    if far_from_reversals(case, delay) < 1.0:
        return []
    sure = certainty(abs(delay), SIGNIFICANT * deviation)
    seen = f'estimated with the parameters, {1e3 * delay:.3g} +- {1e3 * deviation:.2g} ms'
    return [_found(case, delay, sure, seen)]


def far_from_reversals(case: Case, delay: float) -> float:
    """Return the hold-out error without / with a delay (s), where the joints do not turn back."""
    s = case.signals
    fast = np.abs(s.dq) > FAST * s.speed
    models = Models(case.robot, replace(s, active=fast | ~fast.any(axis=0)))
    before, after = models.nominal.held_out, models.explain(Hypothesis(delay=delay)).held_out
    return rms(before[s.moving]) / rms(after[s.moving])


def is_gone(case: Case, delay: float) -> bool:
    """Return whether next to nothing is left of a delay (s) when the torques are shifted back."""
    offset = align(case.robot, _shifted(case.dataset, delay), 'auto').offset
    return offset is None or abs(offset.seconds) <= GONE * abs(delay)


def joint_delays(case: Case, around: float) -> Array:
    """(n,) the delay of each joint by itself: the lowest point of a parabola, s."""
    residuals = case.models.best_residuals
    before, middle, after = (
        residuals(Hypothesis(delay=around + shift)) ** 2 for shift in (-WIDTH, 0.0, WIDTH)
    )
    bend = np.maximum(before - 2 * middle + after, 1e-12)
    return around + np.clip(0.5 * WIDTH * (before - after) / bend, -2 * WIDTH, 2 * WIDTH)


def _agree(offset: TimeOffset) -> bool:
    """Return whether an offset is significant, and that of most joints that know it."""
    if abs(offset.seconds) <= SIGNIFICANT * offset.deviation:
        return False
    if not offset.joints:
        return True
    own = np.array([v for v, d in offset.joints.values() if d < VAGUE * abs(offset.seconds)])
    near = np.abs(own - offset.seconds) < max(SAME, SAME_SHARE * abs(offset.seconds))
    return own.size >= 0.5 * len(offset.joints) and bool(near.mean() >= MOST)


def _large(case: Case, delay: float) -> bool:
    return abs(delay) > max(SAMPLES / case.dataset.rate, LATE if delay > 0 else AHEAD)


def _shifted(dataset: Dataset, delay: float) -> Dataset:
    """Return the data with their torques shifted back by a delay in s."""
    shift = Processing(torque_delay_s=float(np.clip(delay, -0.5, 0.5)))
    runs = tuple(
        replace(run, torque=torque_at_samples(run, shift, 0, len(run))) for run in dataset.runs
    )
    return replace(dataset, runs=runs)


def _at(case: Case, delay: float) -> Proposal:
    hypothesis = Hypothesis(delay=delay)
    return proposal(case, 'torque_delay', hypothesis, _finding(case, delay), THRESHOLD)


def _finding(case: Case, delay: float):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        seen = f'when corrected, the {improvement(case, found)}'
        return _found(case, delay, certainty(found.gain, found.threshold), seen)

    return make


def _found(case: Case, delay: float, sure: float, seen: str) -> Finding:
    way = 'lags' if delay > 0 else 'leads'
    fix = f'torque.delay: {delay:.4g} (seconds) in the mapping'
    if any(PD_NOTE in note for note in case.dataset.notes):
        # That of a computed torque is the delay of the loop, from the computation to the motor.
        fix = f'torque.delay greater by {-delay:.4g} (seconds) in the mapping, loop and drive lag'
    return Finding(
        'torque_delay',
        None,
        sure,
        f'the torque {way} the position by {1e3 * abs(delay):.3g} ms: {seen}',
        fix,
        Remedy(torque_delay=delay),
    )
