"""Least squares that says which parameters the rows determine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.deviations import least_squares_covariance
from robot_id.regression.triangular import triangle

Array = NDArray[np.float64]
# Relative size of singular values, and of a parameter's share in what is not determined.
RANK, SHARE = 1e-9, 1e-6


@dataclass(frozen=True)
class Solution:
    """
    The smallest solution of A x = y.

    :param x: (p,).
    :param basis: (p, r) directions that are determined, x = basis z.
    :param covariance: (p, p), of the determined directions.
    :param determined: (p,) parameters without share in the other directions.
    """

    x: Array
    basis: Array
    covariance: Array
    determined: NDArray[np.bool_]


def solve(A: Sequence[Array], y: Sequence[Array]) -> Solution:
    """
    Solve weighted rows.

    :param A: for each run (M, n, p), zero where a row is left out.
    :param y: for each run (M, n).
    """
    p = A[0].shape[2]
    R = triangle(np.concatenate([np.c_[a.reshape(-1, p), b.ravel()] for a, b in zip(A, y)]))
    scale = np.linalg.norm(R[:, :p], axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, s, Vt = np.linalg.svd(R[:, :p] / scale, full_matrices=False)
    rank = int(np.sum(s > RANK * s[0]))
    V = Vt[:rank].T
    basis = V / scale[:, None]
    x = basis @ (U[:, :rank].T @ R[:, p] / s[:rank])
    residual = [b - a @ x for a, b in zip(A, y)]
    inner = least_squares_covariance([a @ basis for a in A], residual)
    determined = np.linalg.norm(V, axis=1) > 1.0 - SHARE
    return Solution(x, basis, basis @ inner @ basis.T, determined)
