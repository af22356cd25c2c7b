"""Extended Kalman filter in square-root form, to compare with the UD-factorised one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.online.square_root import SquareRootFilter, lower
from robot_id.online.state_model import NotPositive

Array = NDArray[np.float64]


class SquareRootExtendedKalmanFilter(SquareRootFilter):
    """S <- triangle of [F S, Q^1/2], with the Jacobian F of the step: O((2n + b)^3) each."""

    def _predict(self, tau: Array, noise: Array) -> bool:
        try:
            ahead, top = self.model.advance(self.z, tau)
        except NotPositive:
            return False
        n2 = 2 * self.n
        self._good = self.z[n2:].copy()
        self.z = ahead
        self._S = lower(np.hstack([np.vstack([top @ self._S, self._S[n2:]]), noise]))
        return True
