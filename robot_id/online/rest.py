"""Which joints stand still: there the friction torque is unknown and the equation is void."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit

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
        self._ring = np.zeros((self._length, self.span.size))
        self._count = np.zeros(1, np.int64)
        self._left = np.zeros(self.span.size, np.int64)

    def __call__(self, q: Array) -> NDArray[np.bool_]:
        """Take (N, n) positions; return (N, n) flags of resting joints."""
        flags = np.zeros(q.shape, np.bool_)
        if self.active:
            _scan(q, self._ring, self._count, self.span, self._settling, self._left, flags)
        return flags


@njit(cache=True)
def _scan(q, ring, count, span, settling, left, flags):  # type: ignore[no-untyped-def]
    """Put positions into the ring (length, n) and flag joints that stayed within their span."""
    length, n = ring.shape
    for k in range(q.shape[0]):
        ring[count[0] % length] = q[k]
        count[0] += 1
        for j in range(n):
            still = count[0] >= length
            if still:
                lowest, highest = q[k, j], q[k, j]
                for i in range(length):
                    lowest = min(lowest, ring[i, j])
                    highest = max(highest, ring[i, j])
                still = highest - lowest < span[j]
            if still:
                left[j] = settling
            elif left[j] > 0:
                left[j] -= 1
            flags[k, j] = still or left[j] > 0
