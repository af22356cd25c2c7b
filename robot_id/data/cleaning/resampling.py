"""Interpolation of irregular samples, in pieces so that long recordings need little memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run

Array = NDArray[np.float64]

_PIECE = 65536
# Runs of one data set share their rate within this.
_SAME_RATE = 0.01
# Channels without the smoothness that a cubic interpolation needs.
ROUGH = ('torque', 'control', 'temperature', 'gain', 'supply', 'enabled')


def at_one_rate(runs: list[Run], source: str, notes: list[str]) -> list[Run]:
    """
    Return runs of one rate, that of the slowest; those of another are interpolated.

    :param notes: receives a note if there are such.
    """
    slowest = min(runs, key=lambda run: run.rate)
    same = [abs(run.rate / slowest.rate - 1.0) <= _SAME_RATE for run in runs]
    if all(same):
        return runs
    rates = sorted({f'{run.rate:.6g}' for run in runs}, key=float)
    notes.append(f'{source}: runs of {", ".join(rates)} Hz, resampled to {slowest.rate:.6g} Hz')
    return [run if ok else _at_step(run, slowest.step) for run, ok in zip(runs, same)]


def _at_step(run: Run, step: float) -> Run:
    """Return a run with another step [s]."""
    grid = run.time[0] + step * np.arange(int(run.duration / step + 1e-9) + 1)
    return run.changed(
        grid, lambda name, values: interpolate(run.time, values, grid, cubic=name not in ROUGH)
    )


def interpolate(time: Array, values: Array, at: Array, cubic: bool) -> Array:
    """
    Return values at other times.

    :param time: (N,) increasing.
    :param values: (N, n).
    :param at: (M,) times within the first and the last of `time`.
    :param cubic: Lagrange polynomial through the 4 samples around (error of the 4th order in the
        step), otherwise straight lines.
    """
    out = np.empty((at.shape[0], values.shape[1]))
    for low in range(0, at.shape[0], _PIECE):
        piece = at[low : low + _PIECE]
        weigh = _cubic if cubic and time.shape[0] >= 4 else _linear
        index, weights = weigh(time, piece)
        target = out[low : low + _PIECE]
        target[:] = 0.0
        for offset in range(weights.shape[1]):
            target += weights[:, offset, None] * values[index + offset]
    return out


def _linear(time: Array, at: Array) -> tuple[NDArray[np.intp], Array]:
    index = np.clip(np.searchsorted(time, at, side='right') - 1, 0, time.shape[0] - 2)
    u = (at - time[index]) / (time[index + 1] - time[index])
    return index, np.stack([1 - u, u], axis=1)


def _cubic(time: Array, at: Array) -> tuple[NDArray[np.intp], Array]:
    index = np.clip(np.searchsorted(time, at, side='right') - 2, 0, time.shape[0] - 4)
    nodes = time[index[:, None] + np.arange(4)]
    weights = np.ones((at.shape[0], 4))
    for i in range(4):
        for j in range(4):
            if i != j:
                weights[:, i] *= (at - nodes[:, j]) / (nodes[:, i] - nodes[:, j])
    return index, weights
