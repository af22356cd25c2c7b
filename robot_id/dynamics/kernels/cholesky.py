"""Cholesky's factors of small matrices, compiled: they exist where M(q) is positive definite."""

from __future__ import annotations

import math

from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.kernel_cache import njit


@njit(**INLINED)
def cholesky(M):
    """Overwrite M by its Cholesky factor (below the diagonal); return False if not positive."""
    n = M.shape[0]
    for j in range(n):
        d = M[j, j]
        for k in range(j):
            d -= M[j, k] * M[j, k]
        if not d > 0.0:
            return False
        d = math.sqrt(d)
        M[j, j] = d
        for i in range(j + 1, n):
            s = M[i, j]
            for k in range(j):
                s -= M[i, k] * M[j, k]
            M[i, j] = s / d
    return True


@njit(**INLINED)
def cholesky_solve(M, x):
    """
    Overwrite x by M^-1 x; return False if M is not positive definite.

    M = L D L^T needs no roots, each of which the next pivot would wait for. M is overwritten:
    below the diagonal by L D, above it by L^T, on it by 1 / D.
    """
    n = M.shape[0]
    for j in range(n):
        for i in range(j, n):
            for k in range(j):
                M[i, j] -= M[i, k] * M[k, j]
        if not M[j, j] > 0.0:
            return False
        M[j, j] = 1.0 / M[j, j]
        for i in range(j + 1, n):
            M[j, i] = M[i, j] * M[j, j]
    for i in range(n):
        for k in range(i):
            x[i] -= M[k, i] * x[k]
    for i in range(n - 1, -1, -1):
        x[i] *= M[i, i]
        for k in range(i + 1, n):
            x[i] -= M[i, k] * x[k]
    return True
