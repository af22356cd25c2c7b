"""Central-difference Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np

from robot_id.online.sigma_points import SigmaPointFilter


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

    def _weights(self, h: float) -> tuple[float, float, float]:
        return float(np.sqrt(h * h - 1.0)) / (2.0 * h * h), 0.0, 0.0
