"""
Samples that are repeated until the next one comes, as a fast logger does with a slow source.

Differentiated, the steps between them are noise of the size of the motion, which the rate of the
recording seems to put far above the motion. Only the first of each is kept.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Repair, Run

Array = NDArray[np.float64]
# Most repetitions that are looked for, and the share of the changes that must be in step.
MOST, IN_STEP = 20, 0.95
# Changes of the positions that it takes to see a pattern.
FEWEST = 50


def without_held_samples(dataset: Dataset) -> Dataset:
    """Return the data with each sample once, and a note, where all runs hold their samples."""
    counts = [count for run in dataset.runs if (count := repetitions(run.position))]
    count = min(counts, default=1)
    if count == 1:
        return dataset
    runs = tuple(_thinned(run, count) for run in dataset.runs)
    note = (
        f'positions change once in {count} samples: the recording of {dataset.rate:.4g} Hz is '
        f'taken as one of {dataset.rate / count:.4g} Hz'
    )
    repairs = (*dataset.repairs, Repair('held_samples', count=count, detail=note))
    return replace(dataset, runs=runs, notes=(*dataset.notes, note), repairs=repairs)


def repetitions(values: Array) -> int:
    """
    Return how often each row of (N, n) values is there, 1 where all are new, 0 where few change.

    Quantised values of slow joints repeat too, but change at any time; here all changes of all
    joints are in step with each other, `count` samples apart.
    """
    changes = _changes(values)
    if len(changes) < FEWEST:
        return 0
    for count in range(min(MOST, len(values) // 4), 1, -1):
        if np.bincount(changes % count).max() >= IN_STEP * len(changes):
            return count
    return 1


def _changes(values: Array) -> NDArray[np.int64]:
    """Return the indices of the rows that differ from the one before."""
    return np.flatnonzero(np.any(np.diff(values, axis=0) != 0.0, axis=1)) + 1


def _thinned(run: Run, count: int) -> Run:
    """Return the samples at which the positions change, one in `count`."""
    changes = _changes(run.position)
    first = int(np.bincount(changes % count, minlength=count).argmax()) if len(changes) else 0
    chosen = slice(first, None, count)
    values = {
        field.name: getattr(run, field.name)[chosen]
        for field in fields(run)
        if getattr(run, field.name) is not None
    }
    return replace(run, **values) if len(run) > 4 * count else run
