"""Unscented Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robot_id.methods.kalman.ekf import Ekf
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.sigma_points import SigmaPointFilter


class UnscentedKalmanFilter(SigmaPointFilter):
    """
    Scaled unscented points (Julier 2002) of L = 2n + b states, h = sqrt(3) at any L.

    With h^2 = alpha^2 L the outer points weigh 1 / 2h^2, the middle one 1 - L / h^2 in the mean
    and w = 2 - L / h^2 - h^2 / L + beta in the covariance. That is negative for many states: its
    share (f_0 - mean) is then taken off the root of the rest, S (I - g p p') with S p = sqrt(-w)
    (f_0 - mean); where it is larger than the rest, the points are drawn closer.
    """

    h = float(np.sqrt(3.0))
    beta = 2.0

    @property
    def spread(self) -> float:
        """How far the points are."""
        return self.h

    def _weights(self, h: float) -> tuple[float, float, float]:
        size = self.model.size
        return 0.5 / h, 1.0 / h, 2.0 - size / h**2 - h**2 / size + self.beta


@dataclass(frozen=True)
class Ukf(Ekf):
    """
    Unscented (sigma-point) Kalman filter in square-root form, with the options of the EKF.

    It needs no Jacobian but 2 (2n + b) + 1 evaluations of the direct model per step.
    """

    name: ClassVar[str] = 'ukf'
    filter_class: ClassVar[type[KalmanFilter]] = UnscentedKalmanFilter
