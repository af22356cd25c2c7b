"""Samples that are held: a logger that is faster than its source repeats what it got last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding

Array = NDArray[np.float64]

KIND = 'held_samples'
# Most repetitions that are looked for, the share of the changes that must be in step, and how many
# changes it takes to see that.
MOST, IN_STEP, FEWEST = 20, 0.9, 50


def look(case: Case) -> tuple[list[Finding], Case]:
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

    Quantised values of slow joints repeat too, but change at any time; held ones change in step.
    """
    changes = np.flatnonzero(np.any(np.diff(values, axis=0) != 0.0, axis=1)) + 1
    if len(changes) < FEWEST:
        return 0
    for count in range(min(MOST, len(values) // 4), 1, -1):
        if np.bincount(changes % count).max() >= IN_STEP * len(changes):
            return count
    # Where the source is not in step with the logger, most steps are as long as most others.
    steps = np.bincount(np.diff(changes))
    count = int(steps.argmax())
    near = steps[max(count - 1, 0) : count + 2].sum()
    return count if count > 1 and near >= IN_STEP * steps.sum() else 1


def _finding(seen: str, fix: str) -> Finding:
    return Finding(
        KIND,
        None,
        0.97,
        f'{seen}: between the changes nothing was measured, and the steps look like noise',
        f"{fix}; record at the robot's own rate",
    )
