"""A smaller data set, decimated and cut, to choose filters, friction and delays."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.processing import even_factor

# More samples than these are used in pieces of about this length.
SAMPLES, PIECE = 30_000, 5_000


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
    """
    Return the data, or pieces of long ones in which all joints move.

    One piece after the other is taken, each time the one that moves most the joint that has moved
    least so far: so every joint has its share, in whatever file it moves.
    """
    if len(dataset) <= SAMPLES:
        return dataset
    pieces = [piece for run in dataset.runs for piece in _cut(run)]
    moved = np.array([np.abs(np.diff(piece.position, axis=0)).sum(axis=0) for piece in pieces])
    moved /= np.maximum(moved.sum(axis=0), 1e-300)
    so_far, left, chosen, size = np.zeros(moved.shape[1]), set(range(len(pieces))), [], 0
    live = np.flatnonzero(moved.any(axis=0))
    while left and size < SAMPLES and len(live):
        joint = live[np.argmin(so_far[live])]
        best = max(sorted(left), key=lambda k: moved[k, joint])
        left.remove(best)
        chosen.append(best)
        so_far, size = so_far + moved[best], size + len(pieces[best])
    return replace(dataset, runs=tuple(_copied(pieces[k]) for k in sorted(chosen)) or dataset.runs)


def _cut(run: Run) -> list[Run]:
    """Return the pieces of a run, none shorter than PIECE unless the run is."""
    edges = np.linspace(0, len(run), max(len(run) // PIECE, 1) + 1).astype(int)
    return [run.rows(int(low), int(high)) for low, high in pairwise(edges)]


def _copied(run: Run) -> Run:
    """Return a copy of a piece, so that the whole can be freed."""
    warmth = None if run.temperature is None else run.temperature.copy()
    return Run(run.time.copy(), run.position.copy(), run.torque.copy(), temperature=warmth)
