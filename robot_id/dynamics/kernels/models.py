"""
The models over many states: inverse and direct dynamics, M(q), and their derivatives.

Cholesky's factors of M(q) exist where it is positive definite.
"""

from __future__ import annotations

import math

import numpy as np

from robot_id.dynamics.kernels import tangent
from robot_id.dynamics.kernels.friction import add_drive_torques, add_rotors, remove_friction
from robot_id.dynamics.kernels.rigid_body import (
    FAST,
    INLINED,
    composite,
    motions,
    newton_euler,
    poses,
)
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


@njit(**FAST)
def inverse_kernel(tree, inertia, values, Q, DQ, DDQ, slope, tau):
    """Fill tau (N, n), the torques of N states."""
    nb = tree.parent.shape[0]
    R, p = np.empty((nb, 3, 3)), np.empty((nb, 3))
    w, dw, a = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    force, moment = np.empty((nb, 3)), np.empty((nb, 3))
    for s in range(Q.shape[0]):
        poses(tree, Q[s], R, p)
        motions(tree, R, p, DQ[s], DDQ[s], w, dw, a)
        newton_euler(tree, inertia, R, p, w, dw, a, force, moment, tau[s])
        add_drive_torques(tree, values, DQ[s], DDQ[s], slope, tau[s])


@njit(**FAST)
def inertia_kernel(tree, inertia, values, Q, M):
    """Fill M (N, n, n), with the rotors."""
    nb = tree.parent.shape[0]
    R, p, C = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 10))
    for s in range(Q.shape[0]):
        poses(tree, Q[s], R, p)
        composite(tree, inertia, R, p, C, M[s])
        add_rotors(tree, values, M[s])


@njit(**FAST)
def scratch(nb, n):
    """Return the work arrays of `acceleration`."""
    return (
        np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)),
        np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 10)),
        np.empty((n, n)), np.empty(n), np.zeros(n),
    )  # fmt: skip


@njit(**INLINED)
def acceleration(tree, inertia, values, q, dq, tau, slope, work, ddq):
    """Fill ddq (n,); return False if M(q) is not positive definite."""
    R, p, w, dw, a, force, moment, C, M, N, still = work
    poses(tree, q, R, p)
    motions(tree, R, p, dq, still, w, dw, a)
    newton_euler(tree, inertia, R, p, w, dw, a, force, moment, N)
    composite(tree, inertia, R, p, C, M)
    add_rotors(tree, values, M)
    for j in range(q.shape[0]):
        ddq[j] = tau[j]
    remove_friction(tree, values, dq, slope, ddq)
    for j in range(q.shape[0]):
        ddq[j] -= N[j]
    return cholesky_solve(M, ddq)


@njit(**FAST)
def direct_kernel(tree, inertia, values, Q, DQ, tau, slope, DDQ):
    """Fill DDQ (N, n); return -1, or the first state whose M(q) is not positive definite."""
    work = scratch(tree.parent.shape[0], Q.shape[1])
    for s in range(Q.shape[0]):
        if not acceleration(tree, inertia, values, Q[s], DQ[s], tau[s], slope, work, DDQ[s]):
            return s
    return -1


@njit(**FAST)
def derivatives_kernel(tree, inertia, values, Q, DQ, DDQ, slope, BY_Q, BY_DQ, BY_DDQ):
    """Fill d tau/d q, d tau/d dq, d tau/d ddq, (N, n, n) each."""
    gain = np.empty(Q.shape[1])
    for k in range(Q.shape[0]):
        tangent.derivatives(
            tree, inertia, values, Q[k], DQ[k], DDQ[k], slope, BY_Q[k], BY_DQ[k], BY_DDQ[k], gain
        )
        for j in range(gain.shape[0]):
            BY_DDQ[k, j] *= gain[j]
