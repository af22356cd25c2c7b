"""Time updates of P = U D U' (Thornton 1976): compiled, P stays positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]


@njit(**KERNEL)
def orthogonalise(W: Array, weights: Array, L: Array, d: Array) -> None:
    """
    Thornton's step: U D U' = W diag(weights) W' by modified weighted Gram-Schmidt.

    :param W: (b, m) factors, destroyed.
    :param weights: (m,) non-negative.
    :param L: (b, b) transpose of U, overwritten.
    :param d: (b,) overwritten.
    """
    b, m = W.shape
    c = np.empty(m)
    for j in range(b - 1, -1, -1):
        sigma = 0.0
        for k in range(m):
            c[k] = weights[k] * W[j, k]
            sigma += c[k] * W[j, k]
        d[j] = sigma
        L[j, j] = 1.0
        for i in range(j):
            L[i, j] = 0.0
            s = 0.0
            if sigma > 0.0:
                for k in range(m):
                    s += W[i, k] * c[k]
                s /= sigma
                for k in range(m):
                    W[i, k] -= s * W[j, k]
            L[j, i] = s


@njit(**KERNEL)
def predict(L: Array, d: Array, F: Array, q: Array) -> None:
    """
    Thornton's time update P <- F P F' + diag(q) for any transition matrix.

    :param L: (b, b) transpose of U, updated.
    :param d: (b,) updated.
    :param F: (b, b) transition.
    :param q: (b,) process-noise variances.
    """
    b = d.shape[0]
    W = np.zeros((b, 2 * b))
    weights = np.empty(2 * b)
    for i in range(b):
        weights[i] = d[i]
        weights[b + i] = q[i]
        W[i, b + i] = 1.0
        for j in range(b):
            s = F[i, j]
            for k in range(j):
                s += F[i, k] * L[j, k]
            W[i, j] = s
    orthogonalise(W, weights, L, d)


@njit(**KERNEL)
def predict_constant_tail(L: Array, d: Array, F: Array, q: Array) -> None:
    """
    Time update when all states but the first m are constants: F = [[F1, F2], [0, I]].

    With U = [[U1, U12], [0, U2]] the tail's U2 and D2 do not change, U12 <- F1 U12 + F2 U2,
    and only the leading m x m block needs Thornton's step: O(m b^2) instead of O(b^3).

    :param L: (b, b) transpose of U, updated.
    :param d: (b,) updated.
    :param F: (m, b) the first m rows of the transition.
    :param q: (m,) process-noise variances of the first m states.
    """
    m, b = F.shape
    W = np.zeros((m, 2 * m))
    weights = np.empty(2 * m)
    for i in range(m):
        weights[i] = d[i]
        weights[m + i] = q[i]
        W[i, m + i] = 1.0
        for j in range(m):
            s = F[i, j]
            for k in range(j):
                s += F[i, k] * L[j, k]
            W[i, j] = s
    head = np.empty(m)
    for j in range(m, b):
        for i in range(m):
            s = F[i, j]
            for k in range(j):
                s += F[i, k] * L[j, k]
            head[i] = s
        for i in range(m):
            L[j, i] = head[i]
    top = np.empty((m, m))
    orthogonalise(W, weights, top, d[:m])
    for i in range(m):
        for j in range(m):
            L[i, j] = top[i, j]
