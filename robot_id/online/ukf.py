"""Unscented Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robot_id.online.sigma_points import SigmaPointFilter
from robot_id.online.square_root import lower

Array = NDArray[np.float64]


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

    def _root(self, f: Array, mean: Array, h: float, noise: Array) -> Array | None:
        size = self.model.size
        weight = 2.0 - size / h**2 - h**2 / size + self.beta
        middle = np.sqrt(abs(weight)) * (f[0] - mean)
        columns = [(f[1:] - mean).T / (np.sqrt(2.0) * h), noise]
        if weight > 0.0:
            columns.append(middle[:, None])
        root = lower(np.hstack(columns))
        return root if weight >= 0.0 else without(root, middle)


def without(S: Array, v: Array) -> Array | None:
    """
    Return the root of S S' - v v'; None where that is not positive.

    With S p = v it is S (I - g p p') with g = (1 - sqrt(1 - p'p)) / p'p.
    """
    if not v.any():
        return S
    if not np.all(np.diag(S) != 0.0):
        return None
    p = solve_triangular(S, v, lower=True)
    square = float(p @ p)
    if square >= 1.0:
        return None
    g = 1.0 / (1.0 + np.sqrt(1.0 - square))
    return lower(S - g * np.outer(S @ p, p))
