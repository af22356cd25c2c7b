"""Causal low-pass filters and differences: sample by sample or block by block, same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.signals.filters import butterworth, run_sections, steady_state
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
        self._sections = butterworth(int(order), cutoff_hz, rate_hz)
        self._steady = steady_state(self._sections)
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
        run_sections(self._sections, self._state, flat, False)
        return flat.reshape(block.shape)


class Washout:
    """
    First-order high-pass of many channels with memory, f_k = x_k - x_(k-1) + a f_(k-1).

    Of an integral from the start it makes an integral whose past fades with a time constant; with
    a = 0 one from sample to sample. What was before the first sample is zero.

    :param step: seconds between two samples.
    :param time_constant_s: seconds; much shorter than the step for differences.
    """

    def __init__(self, step: float, time_constant_s: float):
        self._kept = float(np.exp(-step / time_constant_s))
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._last: Array | float = 0.0
        self._out: Array | float = 0.0

    def __call__(self, sample: Array) -> Array:
        """Filter one sample of any shape."""
        out = np.asarray(sample - self._last + self._kept * self._out)
        self._last, self._out = sample.copy(), out
        return out.copy()


# Weights of the samples after the middle one, for dq (times h) and ddq (times h^2), of central
# differences that reach so many samples to each side.
_WEIGHTS = {
    1: ((0.5,), (1.0,)),
    2: ((2.0 / 3.0, -1.0 / 12.0), (4.0 / 3.0, -1.0 / 12.0)),
    3: ((0.75, -0.15, 1.0 / 60.0), (1.5, -0.15, 1.0 / 90.0)),
}


class Differences:
    """
    Central differences, `reach` samples late; with reach 1

        dq = (q_+ - q_-) / 2h, ddq = (q_+ - 2 q + q_-) / h^2,

    which are too small by (w h)^2 / 6 and (w h)^2 / 12 at w rad/s. Reach 2 and 3 are of the fourth
    and sixth order.

    :param step: h, seconds.
    :param reach: samples to each side, 1 to 3.
    """

    def __init__(self, step: float, reach: int = 1):
        self.step, self.reach = step, reach
        self._tail: Array | None = None

    def reset(self) -> None:
        """Forget the last samples."""
        self._tail = None

    def __call__(self, block: Array) -> tuple[Array, Array, Array]:
        """
        Take (N, n) positions; return q, dq, ddq of all samples that now have their neighbours.

        The first block gives N - 2 reach of them, every later one N.
        """
        r, h = self.reach, self.step
        if self._tail is not None:
            block = np.concatenate([self._tail, block])
        self._tail = block[-2 * r :].copy()
        count = block.shape[0] - 2 * r
        if count < 1:
            empty = np.empty((0, block.shape[1]))
            return empty, empty, empty
        q = block[r : r + count]
        dq, ddq = np.zeros_like(q), np.zeros_like(q)
        for k, (first, second) in enumerate(zip(*_WEIGHTS[r]), start=1):
            after, before = block[r + k : r + k + count], block[r - k : r - k + count]
            dq += first / h * (after - before)
            ddq += second / (h * h) * (after - 2.0 * q + before)
        return q, dq, ddq


class Delay:
    """
    Holds the values of the sample in the middle of a central difference.

    :param reach: of the difference, samples to each side.
    """

    def __init__(self, reach: int = 1) -> None:
        self.reach = reach
        self._kept: dict[str, NDArray[Any]] = {}

    def reset(self) -> None:
        """Forget the past."""
        self._kept.clear()

    def late(self, key: str, block: NDArray[Any], mean: bool = False) -> NDArray[Any]:
        """
        Return the rows that go with the differences of the same block, or their mean with
        the row before.
        """
        r = self.reach
        first = key not in self._kept
        rows = block if first else np.concatenate([self._kept[key], block])
        self._kept[key] = rows[-2 * r :].copy()
        if len(rows) < 2 * r + 1:
            return rows[:0]
        return 0.5 * (rows[r - 1 : -r - 1] + rows[r:-r]) if mean else rows[r:-r]
