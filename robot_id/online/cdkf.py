"""Central-difference Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.online.sigma_points import SigmaPointFilter
from robot_id.online.square_root import lower

Array = NDArray[np.float64]


class CentralDifferenceKalmanFilter(SigmaPointFilter):
    """
    Second-order divided differences (Norgaard, Poulsen, Ravn 2000), h = sqrt(3) for normal errors.

    With a_i = (f_i+ - f_i-) / 2h and c_i = sqrt(h^2 - 1) (f_i+ + f_i- - 2 f_0) / 2h^2 the
    predicted covariance is sum a a' + c c' + Q, all terms positive, so its root always exists.
    """

    h = float(np.sqrt(3.0))

    @property
    def spread(self) -> float:
        """How far the points are."""
        return self.h

    def _root(self, f: Array, mean: Array, h: float, noise: Array) -> Array:
        size = self.model.size
        plus, minus = f[1 : size + 1], f[size + 1 :]
        bend = plus + minus - 2.0 * f[0]
        used = np.any(bend[:, : 2 * self.n] != 0.0, axis=1)
        curved = np.sqrt(h * h - 1.0) / (2.0 * h * h) * bend[used].T
        return lower(np.hstack([(plus - minus).T / (2.0 * h), noise, curved]))
