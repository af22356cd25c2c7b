"""Causal low-pass filters and differences: sample by sample or block by block, same numbers."""

from __future__ import annotations

import numpy as np
import scipy
from numba import njit
from numpy.typing import NDArray

from robot_id.exceptions import OptionError

Array = NDArray[np.float64]


class CausalFilter:
    """
    Butterworth low-pass of many channels with memory; the first sample starts it in steady state.

    :param cutoff_hz: cut-off frequency.
    :param rate_hz: sampling rate.
    :param order: order of the filter.
    """

    def __init__(self, cutoff_hz: float, rate_hz: float, order: int = 2):
        if not 0.0 < cutoff_hz < 0.5 * rate_hz:
            raise OptionError(
                f'cutoff_hz = {cutoff_hz:g}, must lie between 0 and half the rate '
                f'({0.5 * rate_hz:g} Hz)'
            )
        if order != int(order) or not 1 <= order <= 8:
            raise OptionError(f'order = {order}, must be a whole number from 1 to 8')
        self._sos = np.ascontiguousarray(
            scipy.signal.butter(int(order), cutoff_hz, fs=rate_hz, output='sos')
        )
        self._steady = scipy.signal.sosfilt_zi(self._sos)
        # Seconds in which a step has settled to about 1 %.
        self.settling_s = (1.0 + 0.5 * order) / cutoff_hz
        self._state: Array | None = None

    def reset(self) -> None:
        """Forget the past; the next sample is the new steady state."""
        self._state = None

    def __call__(self, block: Array) -> Array:
        """Filter (N, ...) samples, each channel on its own."""
        N = block.shape[0]
        flat = np.array(block, float).reshape(N, -1)
        if N == 0:
            return flat.reshape(block.shape)
        if self._state is None:
            self._state = self._steady[:, :, None] * flat[0]
        _filter(self._sos, self._state, flat)
        return flat.reshape(block.shape)


@njit(cache=True)
def _filter(sos: Array, state: Array, x: Array) -> None:
    """Run the sections over x (N, C) in place; state is (S, 2, C)."""
    N, C = x.shape
    for k in range(N):
        row = x[k]
        for s in range(sos.shape[0]):
            b0, b1, b2, a1, a2 = sos[s, 0], sos[s, 1], sos[s, 2], sos[s, 4], sos[s, 5]
            first, second = state[s, 0], state[s, 1]
            for c in range(C):
                value = row[c]
                out = b0 * value + first[c]
                first[c] = b1 * value - a1 * out + second[c]
                second[c] = b2 * value - a2 * out
                row[c] = out


class Differences:
    """
    Central differences, one sample late: dq = (q_+ - q_-) / 2h, ddq = (q_+ - 2 q + q_-) / h^2.

    :param step: h, seconds.
    """

    def __init__(self, step: float):
        self.step = step
        self._tail: Array | None = None

    def reset(self) -> None:
        """Forget the last two samples."""
        self._tail = None

    def __call__(self, block: Array) -> tuple[Array, Array, Array]:
        """
        Take (N, n) positions; return q, dq, ddq of all samples that now have both neighbours.

        The first block gives N - 2 of them, every later one N.
        """
        if self._tail is not None:
            block = np.concatenate([self._tail, block])
        self._tail = block[-2:].copy()
        h = self.step
        if block.shape[0] < 3:
            empty = np.empty((0, block.shape[1]))
            return empty, empty, empty
        q = block[1:-1]
        dq = (block[2:] - block[:-2]) / (2.0 * h)
        ddq = (block[2:] - 2.0 * q + block[:-2]) / (h * h)
        return q, dq, ddq
