"""
Files that are parts of one recording, as loggers cut them by size or time.

The last sample of one is a step before the first of another, by the same clock, and the motion
goes on: together they are the run that was recorded, without borders inside.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run

Array = NDArray[np.float64]
# How far the time between two files may be from one step, in steps, to be the next sample.
SEAM = 0.1
# How far a joint may move from one file to the next, in the largest steps inside the files.
LARGEST_STEP = 2.0


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
    if before.channels().keys() != after.channels().keys():
        return False
    step = before.step
    seam = float(after.time[0] - before.time[-1])
    if max(abs(seam - step), abs(after.step - step)) > SEAM * step:
        return False
    return bool(np.all(np.abs(after.position[0] - before.position[-1]) <= farthest))


def _together(before: Run, after: Run) -> Run:
    others = after.channels()
    whole = before.changed(
        np.concatenate([before.time, after.time]),
        lambda name, values: np.concatenate([values, others[name]]),
    )
    names = dict.fromkeys(filter(None, [*before.name.split(' + '), after.name]))
    return replace(whole, name=' + '.join(names))
