"""Cubature Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np

from robot_id.online.sigma_points import SigmaPointFilter


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
