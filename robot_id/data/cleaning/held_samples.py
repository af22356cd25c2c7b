"""
Samples that are repeated until the next one comes, as a fast logger does with a slow source.

Differentiated, the steps between them are noise of the size of the motion, which the rate of the
recording seems to put far above the motion. Only the first of each is kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Repair, Run

Array = NDArray[np.float64]
# Most repetitions that are looked for, and the share of the changes that must be in step.
MOST, IN_STEP = 20, 0.95
# Changes of the positions that it takes to see a pattern.
FEWEST = 50
# Changes in a row with which counting begins.
FIRST = 20
# Runs of one source have periods that are as equal as this.
EQUAL = 0.02
# How far a change may be from the middle of its place to count for it, in samples.
STRAY = 1.0
# What the phase may be off by; a sample that is taken a little later is held still.
SLACK = 0.05


def without_held_samples(dataset: Dataset) -> Dataset:
    """Return the data with each sample once, and a note, where all runs hold their samples."""
    own = [hold(run.position) for run in dataset.runs]
    known = [period for period in own if period]
    if not known or min(known) == 1.0 or max(known) > (1.0 + EQUAL) * min(known):
        return dataset
    usual = float(np.median(known))
    runs = tuple(_thinned(run, period or usual) for run, period in zip(dataset.runs, own))
    note = (
        f'positions change once in {usual:.4g} samples: the recording of {dataset.rate:.4g} Hz is '
        f'taken as one of {dataset.rate / usual:.4g} Hz'
    )
    repairs = (*dataset.repairs, Repair('held_samples', count=round(usual), detail=note))
    return replace(dataset, runs=runs, notes=(*dataset.notes, note), repairs=repairs)


def hold(values: Array) -> float:
    """
    Return for how many samples each row of (N, n) values is held, 0 where too few change.

    It is 1 where all are new. Quantised values of slow joints repeat too, but change at any time;
    here all changes of all joints are in step with each other: a whole number of samples apart,
    or, where logger and source are not in step, one of two or three neighbouring numbers.
    """
    changes = _changes(values)
    if len(changes) < FEWEST:
        return 0.0
    for count in range(min(MOST, len(values) // 4), 1, -1):
        if np.bincount(changes % count).max() >= IN_STEP * len(changes):
            return float(count)
    gaps = np.diff(changes)
    steps = np.bincount(gaps)
    usual = int(steps.argmax())
    near = np.abs(gaps - usual) <= 1
    if not 1 < usual <= MOST or near.mean() < IN_STEP:
        return 1.0
    return _period(changes, near, float(gaps[near].mean()))


def _period(changes: NDArray[np.int64], near: NDArray[np.bool_], period: float) -> float:
    """
    Return the samples from one change to the next to the last digit, 1 where they have no period.

    The numbers of the changes are counted from where one follows the other, and the period is
    fitted to ever longer spans, which it must be known well enough to count through.

    :param near: whether a change is followed by the next one.
    :param period: near gaps in the mean.
    """
    together = np.convolve(near, np.ones(FIRST), 'valid')
    at = changes - changes[int(together.argmax())]
    begin, span = 0.0, FIRST * period
    while True:
        inside = at[np.abs(at) <= span]
        number = np.round((inside - begin) / period)
        period, begin = (float(value) for value in np.polyfit(number, inside, 1))
        if len(inside) == len(at):
            break
        span *= 2.0
    in_step = np.abs(at - begin - period * number) <= STRAY
    return period if period > 1.0 and in_step.mean() >= IN_STEP else 1.0


def _changes(values: Array) -> NDArray[np.int64]:
    """Return the indices of the rows that differ from the one before."""
    return np.flatnonzero(np.any(np.diff(values, axis=0) != 0.0, axis=1)) + 1


def _thinned(run: Run, period: float) -> Run:
    """Return the samples at which the positions change, one in `period`, at uniform times."""
    if len(run) <= 4 * period:
        return run
    changes = _changes(run.position)
    phase = _phase(changes, period) if len(changes) else 0.0
    first = -np.floor(phase / period)
    last = np.floor((len(run) - 1 - phase) / period)
    at = phase + period * np.arange(first, last + 1)
    chosen = np.floor(at + SLACK).astype(int)
    return run.changed(run.time[0] + run.step * at, lambda _, values: values[chosen])


def _phase(changes: NDArray[np.int64], period: float) -> float:
    """Return the largest part of `changes` beyond multiples of the period, strays left out."""
    around = np.exp(2j * np.pi / period * changes).mean()
    middle = float(np.angle(around)) / (2.0 * np.pi) * period
    apart = (changes - middle + 0.5 * period) % period - 0.5 * period
    spread = STRAY if period % 1.0 else SLACK
    return middle + float(apart[np.abs(apart) <= spread].max(initial=0.0))
