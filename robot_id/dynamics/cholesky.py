"""Cholesky's factors of small matrices, compiled: they exist where M(q) is positive definite."""

from __future__ import annotations

import math

import numba

from robot_id.dynamics.kernels import INLINED


@numba.njit(**INLINED)
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


@numba.njit(**INLINED)
def cholesky_solve(M, x):
    """Overwrite M by its Cholesky factor and x by M^-1 x; return False if M is not positive."""
    if not cholesky(M):
        return False
    n = M.shape[0]
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= M[i, k] * x[k]
        x[i] = s / M[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= M[k, i] * x[k]
        x[i] = s / M[i, i]
    return True
