"""
Files that are parts of one recording, as loggers cut them by size or time.

The last sample of one is a step before the first of another, by the same clock, and the motion
goes on: together they are the run that was recorded, without borders inside.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run

Array = NDArray[np.float64]
# How far the time between two files may be from one step, in steps, to be the next sample.
SEAM = 0.1
# How far a joint may move from one file to the next, in the largest steps inside the files.
LARGEST_STEP = 2.0
_FIELDS = fields(Run)


def joined(dataset: Dataset) -> Dataset:
    """
    Return the data with runs that continue each other made one.

    :param dataset: runs sorted by their time.
    """
    steps = [np.abs(np.diff(run.position, axis=0)).max(axis=0) for run in dataset.runs]
    farthest = LARGEST_STEP * np.max(steps, axis=0)
    runs: list[Run] = []
    for run in dataset.runs:
        if runs and _continues(runs[-1], run, farthest):
            runs[-1] = _together(runs[-1], run)
        else:
            runs.append(run)
    return dataset if len(runs) == len(dataset.runs) else replace(dataset, runs=tuple(runs))


def _continues(before: Run, after: Run, farthest: Array) -> bool:
    """
    Whether the clock and the motion go on from one run to the next.

    :param farthest: (n,) that the joints move in one step.
    """
    if any((getattr(before, f.name) is None) != (getattr(after, f.name) is None) for f in _FIELDS):
        return False
    step = before.step
    seam = float(after.time[0] - before.time[-1])
    if max(abs(seam - step), abs(after.step - step)) > SEAM * step:
        return False
    return bool(np.all(np.abs(after.position[0] - before.position[-1]) <= farthest))


def _together(before: Run, after: Run) -> Run:
    values = {
        field.name: np.concatenate([getattr(before, field.name), getattr(after, field.name)])
        for field in _FIELDS
        if getattr(before, field.name) is not None
    }
    return replace(before, **values)
