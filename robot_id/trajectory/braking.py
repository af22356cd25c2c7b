"""From a moving reference to rest, when no further reference comes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Brake:
    """
    Each joint slows down with a constant acceleration and then stays where it is.

    :param point: (3, n) the reference when braking begins.
    :param start_ns: its stamp.
    :param acceleration: (n,) of the braking, positive.
    """

    def __init__(self, point: Array, start_ns: int, acceleration: Array) -> None:
        self._q, self._dq = point[0].copy(), point[1].copy()
        self._start = start_ns
        self._a = -np.sign(self._dq) * acceleration
        self._end = np.abs(self._dq) / acceleration

    def at(self, stamp: int) -> Array:
        """Return (3, n) position, velocity and acceleration."""
        elapsed = max((stamp - self._start) / 1e9, 0.0)
        t = np.minimum(elapsed, self._end)
        moving = elapsed < self._end
        q = self._q + t * (self._dq + 0.5 * t * self._a)
        return np.array(
            [q, np.where(moving, self._dq + t * self._a, 0.0), np.where(moving, self._a, 0.0)]
        )

    def over(self, stamp: int) -> bool:
        """Whether all joints are at rest."""
        return bool(np.all((stamp - self._start) / 1e9 >= self._end))
