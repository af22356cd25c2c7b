"""Interpolation of irregular samples, in pieces so that long recordings need little memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PIECE = 65536


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
