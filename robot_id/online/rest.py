"""Which joints stand still: there the friction torque is unknown and the equation is void."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RestDetector:
    """
    A joint rests while its position has moved less than velocity * window in the last window.

    The excursion is used and not the differentiated position, whose noise would hide rest, and not
    the speed alone, which is also zero when a moving joint turns round.

    :param velocity: (n,) rad/s or m/s, 0 to switch the test off for a joint.
    :param rate_hz: sampling rate.
    :param window_s: seconds.
    :param settling_s: seconds after rest in which the joint still counts as resting (filters).
    """

    def __init__(
        self, velocity: Array, rate_hz: float, window_s: float = 0.1, settling_s: float = 0.0
    ):
        self.span = np.asarray(velocity, float) * window_s
        self._length = max(round(window_s * rate_hz), 2)
        self._settling = int(np.ceil(settling_s * rate_hz))
        self.active = bool(np.any(self.span > 0.0))
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._recent: Array | None = None
        self._left = np.zeros(self.span.size, int)

    def __call__(self, q: Array) -> NDArray[np.bool_]:
        """Take (N, n) positions; return (N, n) flags of resting joints."""
        N, n = q.shape
        if not self.active or N == 0:
            return np.zeros((N, n), bool)
        past = q[:0] if self._recent is None else self._recent
        rows = np.vstack([past, q])
        self._recent = rows[-(self._length - 1) :].copy()
        out = np.empty((N, n), bool)
        for k in range(N):
            last = len(past) + k + 1
            seen = rows[max(last - self._length, 0) : last]
            still = np.zeros(n, bool)
            if len(seen) == self._length:
                still = seen.max(axis=0) - seen.min(axis=0) < self.span
            self._left = np.where(still, self._settling, np.maximum(self._left - 1, 0))
            out[k] = still | (self._left > 0)
        return out
