"""Covariance of a weighted solution when each joint has its own noise."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression.solvers.triangular import JointFactors, triangle

Array = NDArray[np.float64]


def joint_covariance(
    factors: JointFactors, kept: NDArray[np.bool_], weights: Array, noise: Array
) -> Array:
    """
    Return the (b, b) covariance of the solution that weighs the rows of joint j by g_j.

    C = A^-1 (sum_j g_j^4 s_j^2 W_j'W_j) A^-1 with A = sum_j g_j^2 W_j'W_j, by triangular solves.
    It is the textbook s^2 (W'W)^-1 when the weights are 1 / s_j or all joints share one noise.

    :param factors: the unweighted factors.
    :param kept: (b,) parameters that were solved for; the others get NaN.
    :param weights: (n,) g_j.
    :param noise: (n,) s_j, standard deviation of the noise of joint j.
    """
    p = int(kept.sum())
    U = triangle(factors.stack(weights)[:, :-1][:, kept])[:p]
    B = triangle(factors.stack(weights**2 * noise)[:, :-1][:, kept])[:p]
    half = sl.solve_triangular(U, sl.solve_triangular(U, B.T, trans='T'))
    covariance = np.full((kept.size, kept.size), np.nan)
    covariance[np.ix_(kept, kept)] = half @ half.T
    return covariance
