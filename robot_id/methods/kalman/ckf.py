"""Cubature Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robot_id.methods.kalman.ekf import Ekf
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.sigma_points import SigmaPointFilter


class CubatureKalmanFilter(SigmaPointFilter):
    """
    Third-degree cubature (Arasaratnam, Haykin 2009): 2L points at sqrt(L) deviations, all alike.

    The mean is that of the outer points, the covariance that of f_i - mean: the unscented filter
    with kappa = 0, with no weight that can be negative, but with points far out for many states.
    """

    @property
    def spread(self) -> float:
        """How far the points are: sqrt(L), so that the middle one has no weight."""
        return float(np.sqrt(self.model.size))

    def _weights(self, h: float) -> tuple[float, float, float] | None:
        # Drawn closer, the middle point would need a negative weight: derivatives at last.
        return None if h < self.spread else (0.5 / h, 1.0 / h, 0.0)


@dataclass(frozen=True)
class Ckf(Ekf):
    """Cubature Kalman filter in square-root form, with the options of the EKF."""

    name: ClassVar[str] = 'ckf'
    filter_class: ClassVar[type[KalmanFilter]] = CubatureKalmanFilter
