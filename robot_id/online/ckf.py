"""Cubature Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.online.sigma_points import SigmaPointFilter
from robot_id.online.square_root import lower

Array = NDArray[np.float64]


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

    def _root(self, f: Array, mean: Array, h: float, noise: Array) -> Array | None:
        if h < self.spread:
            # Drawn closer, the middle point would need a negative weight: derivatives at last.
            return None
        return lower(np.hstack([(f[1:] - mean).T / (np.sqrt(2.0) * h), noise]))
