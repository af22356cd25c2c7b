"""Instrumental variables: V' Y = V' W chi, by two QRs."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.solvers.least_squares import condition_number
from robot_id.regression.uncertainty.bootstrap import bootstrap_covariance
from robot_id.regression.uncertainty.sandwich import score_covariance

Array = NDArray[np.float64]


def instrumental_solution(
    V: list[Array], W: list[Array], Y: list[Array]
) -> tuple[Array, Array, float]:
    """
    Return chi of V' Y = V' W chi, its covariance, and the condition number of V.

    Two QRs (eq. 34): Q_V' Q_W R_W chi = Q_V' Y, no normal matrix is formed; all factors must have
    full rank. The covariance is sigma^2 A^-1 A^-T with A = Q_V' W and sigma^2 from Y - W chi.
    """
    v, w, y = np.concatenate(V), np.concatenate(W), np.concatenate(Y)
    if len(w) < w.shape[1]:
        raise IdentificationError(f'{len(w)} rows are left for {w.shape[1]} parameters')
    scale = np.linalg.norm(v, axis=0)
    if np.any(scale == 0.0):
        raise IdentificationError(f'{int(np.sum(scale == 0))} parameters are not excited at all')
    Q_V, R_V = np.linalg.qr(v / scale)
    Q_W, R_W = np.linalg.qr(w / scale)
    A = Q_V.T @ Q_W
    for what, matrix in (('V', R_V), ('W', R_W), ("V'W", A)):
        if condition_number(matrix) > 1e12:
            raise IdentificationError(
                f'{what} has lost rank: the motion does not excite all parameters, or the '
                'simulated loop does not follow the measured motion'
            )
    chi = sl.solve_triangular(R_W, np.linalg.solve(A, Q_V.T @ y)) / scale
    freedom = max(len(y) - len(chi), 1)
    sigma = np.linalg.norm(y - w @ chi) / np.sqrt(freedom)
    root = sl.solve_triangular(R_W, np.linalg.solve(A, np.eye(len(chi)))) / scale[:, None]
    return chi, sigma**2 * (root @ root.T), condition_number(R_V * scale)


def instrumental_covariance(V: Array, W: Array, residual: Array, bootstrap: bool = False) -> Array:
    """
    Return the (b, b) covariance A^-1 cov(Q_V' rho) A^-T, A = Q_V' W, for the residual as it is.

    :param V: (M, n, b) weighted instruments, W (M, n, b) rows, zero where left out.
    :param residual: (M, n) weighted Y - W chi.
    :param bootstrap: from randomly resampled blocks of rows, not by formula.
    """
    b = V.shape[2]
    scale = np.linalg.norm(W.reshape(-1, b), axis=0)
    Q_V = np.linalg.qr(V.reshape(-1, b) / scale)[0]
    A = Q_V.T @ (W.reshape(-1, b) / scale)
    Z = Q_V.reshape(V.shape)
    if bootstrap:
        drawn = bootstrap_covariance([Z], [W / scale], [residual])
        return drawn / np.outer(scale, scale)
    S = score_covariance([Z], [residual])
    root = np.linalg.solve(A, np.eye(b)) / scale[:, None]
    return root @ S @ root.T
