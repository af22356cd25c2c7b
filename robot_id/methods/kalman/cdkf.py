"""Central-difference Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robot_id.methods.kalman.ekf import Ekf
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.sigma_points import SigmaPointFilter


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


@dataclass(frozen=True)
class Cdkf(Ekf):
    """Central-difference Kalman filter in square-root form, with the options of the EKF."""

    name: ClassVar[str] = 'cdkf'
    filter_class: ClassVar[type[KalmanFilter]] = CentralDifferenceKalmanFilter
