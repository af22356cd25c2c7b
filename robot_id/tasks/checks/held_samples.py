"""Samples that are held: a logger that is faster than its source repeats what it got last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.held_samples import IN_STEP, repetitions
from robot_id.data.dataset import Dataset
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding

Array = NDArray[np.float64]

KIND = 'held_samples'


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find positions or torques of all joints that change only once in several samples."""
    details = [repair.detail for repair in case.dataset.repairs if repair.kind == KIND]
    if details:
        return [_finding(min(details), 'nothing to change')], case
    counts = {name: held(case.dataset, name) for name in ('position', 'torque')}
    parts = [f'each {name} is there {count} times' for name, count in counts.items() if count > 1]
    if not parts:
        return [], case
    rate = case.dataset.rate
    own = rate / max(counts.values())
    seen = f'{" and ".join(parts)}: recorded at {rate:.4g} Hz, made at {own:.4g} Hz'
    return [_finding(seen, 'keep one sample in so many')], case


def held(dataset: Dataset, name: str) -> int:
    """Return how often each sample of a channel is there in all runs, 1 where all are new."""
    found = [_held(getattr(run, name)) for run in dataset.runs]
    return min((count for count in found if count), default=1)


def _held(values: Array) -> int:
    """
    Return how often each sample is there, 0 where too few of them change.

    Where the source is not in step with the logger, most steps are as long as most others.
    """
    count = repetitions(values)
    if count != 1:
        return count
    steps = np.bincount(np.diff(np.flatnonzero(np.any(np.diff(values, axis=0) != 0.0, axis=1))))
    usual = int(steps.argmax())
    near = steps[max(usual - 1, 0) : usual + 2].sum()
    return usual if usual > 1 and near >= IN_STEP * steps.sum() else 1


def _finding(seen: str, fix: str) -> Finding:
    return Finding(
        KIND,
        None,
        0.97,
        f'{seen}: between the changes nothing was measured, and the steps look like noise',
        f"{fix}; record at the robot's own rate",
    )
