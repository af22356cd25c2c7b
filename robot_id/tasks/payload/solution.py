"""Least squares with the determined parameters and the effect of model errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from robot_id.regression.solvers.triangular import RANK, column_sizes, triangle
from robot_id.regression.uncertainty.standard_errors import least_squares_covariance

Array = NDArray[np.float64]
# A parameter's share in what is not determined.
SHARE = 1e-6


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


def solve(
    A: Sequence[Array], y: Sequence[Array], last: int | None = None, deviations: bool = True
) -> Solution:
    """
    Solve weighted rows.

    :param A: for each run (M, n, p), zero where a row is left out.
    :param y: for each run (M, n).
    :param last: unknowns at the end that are asked for; the inflation between the joints is that
        in them. None for all.
    :param deviations: False leaves the covariance NaN.
    """
    p = A[0].shape[2]
    R = triangle(np.concatenate([np.c_[a.reshape(-1, p), b.ravel()] for a, b in zip(A, y)]))
    scale = column_sizes(R[:, :p])
    U, s, Vt = np.linalg.svd(R[:, :p] / scale, full_matrices=False)
    rank = int(np.sum(s > RANK * s[0]))
    V = Vt[:rank].T
    basis = V / scale[:, None]
    x = basis @ (U[:, :rank].T @ R[:, p] / s[:rank])
    determined = np.linalg.norm(V, axis=1) > 1.0 - SHARE
    if not deviations:
        return Solution(x, basis, np.full((p, p), np.nan), determined)
    rows = [a @ basis for a in A]
    residual = [b - a @ x for a, b in zip(A, y)]
    covariance = basis @ least_squares_covariance(rows, residual) @ basis.T
    asked = determined & (np.arange(p) >= (0 if last is None else p - last))
    if asked.any():
        covariance *= inflation_between_joints(
            rows, residual, basis[asked], np.diag(covariance)[asked]
        )
    return Solution(x, basis, covariance, determined)


def inflation_between_joints(
    A: Sequence[Array], residual: Sequence[Array], asked: Array, variances: Array
) -> float:
    """
    Return by how much the joints disagree beyond noise, at least 1: a factor of the variances.

    Errors of the model (friction that none of its terms describes) follow the motion and do not
    average out in time, but they differ from joint to joint and from run to run. Each of these
    groups g pulls the estimate by T Z_g' rho_g, with orthonormal rows Z and the estimate T Z' y;
    the pulls add up to zero. With white noise of variance s^2 their squares have the mean s^2 T
    (H_g - H_g^2) T', H_g = Z_g' Z_g: what they have more is the inflation. Few groups say it, so
    Student's quantile takes the place of the normal one in what lies above 1.

    :param A: for each run (M, n, r) rows of full rank; residual (M, n).
    :param asked: (q, r) which combinations of the unknowns are asked for.
    :param variances: (q,) of these, without the inflation.
    """
    r = A[0].shape[2]
    X = np.concatenate([a.reshape(-1, r) for a in A])
    R = triangle(X)
    T = sl.solve_triangular(R, asked.T, trans='T').T
    sizes = np.linalg.norm(T, axis=1)
    T = T / sizes[:, None]
    rows = int(np.count_nonzero(np.any(X != 0.0, axis=1)))
    noise = sum(float(np.sum(rho**2)) for rho in residual) / max(rows - r, 1)
    if noise <= 0.0:
        return 1.0
    pulled, each = 0.0, []
    for a, rho in zip(A, residual):
        for j in range(a.shape[1]):
            Z = sl.solve_triangular(R, a[:, j].T, trans='T').T
            H = Z.T @ Z
            pulled += float(np.sum((T @ (Z.T @ rho[:, j])) ** 2))
            each.append(noise * np.sum((T @ (H - H @ H)) * T, axis=1))
    expected = np.sum(each, axis=0)
    if expected.sum() <= 0.0:
        return 1.0
    counted = float(np.mean(variances / (noise * sizes**2)))
    freedom = float(np.mean(expected**2 / np.sum(np.square(each), axis=0)))
    above = max(0.0, pulled / float(expected.sum()) / counted - 1.0)
    return 1.0 + above * float(stdtrit(freedom, 0.975) / ndtri(0.975)) ** 2
