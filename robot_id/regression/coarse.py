"""A smaller data set, decimated and cut, to choose filters, friction and delays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.data.dataset import Dataset, Run
from robot_id.data.processing import decimate, even_factor

# More samples than these are used in pieces.
SAMPLES, PIECES = 30_000, 3


def coarse(dataset: Dataset, rate: float) -> Dataset:
    """
    Return the data at a lower rate, at most 30 000 samples of them; kept with the data.

    :param rate: Hz; the lowest rate above it that even factors reach is taken.
    """
    factor = even_factor(dataset.rate / rate)
    if factor == 1 and len(dataset) <= SAMPLES:
        return dataset
    return dataset.kept.get(('coarse', factor), lambda: _pieces(_thinned(dataset, factor)))


def _thinned(dataset: Dataset, factor: int) -> Dataset:
    """Return positions and torques at a lower rate, low-passed."""
    if factor == 1:
        return dataset
    # The filter ripples: what does not change is scaled by a little, which angles must not be.
    gain = float(decimate(np.ones((200 * factor, 1)), factor)[100, 0])
    runs = [
        Run(
            run.time[::factor],
            decimate(np.ascontiguousarray(run.position), factor) / gain,
            decimate(np.ascontiguousarray(run.torque), factor) / gain,
            temperature=None if run.temperature is None else run.temperature[::factor],
        )
        for run in dataset.runs
        if len(run) > 4 * factor
    ]
    return replace(dataset, runs=tuple(runs)) if runs else dataset


def _pieces(dataset: Dataset) -> Dataset:
    """Return the data, or pieces from the beginning, the middle and the end of long ones."""
    if len(dataset) <= SAMPLES:
        return dataset
    length = SAMPLES // PIECES
    starts = np.linspace(0, len(dataset) - length, PIECES).astype(int)
    runs, before = [], 0
    for run in dataset.runs:
        for start in starts:
            low, high = max(start - before, 0), min(start + length - before, len(run))
            if high - low >= min(length // 4, len(run)):
                runs.append(_copied(run.rows(low, high)))
        before += len(run)
    return replace(dataset, runs=tuple(runs)) if runs else dataset


def _copied(run: Run) -> Run:
    """Return a copy of a piece, so that the whole can be freed."""
    warmth = None if run.temperature is None else run.temperature.copy()
    return Run(run.time.copy(), run.position.copy(), run.torque.copy(), temperature=warmth)
