"""
Sensitivities of a closed loop to the parameters, along a simulated motion.

With the feedback tau = Kp (qr - q) + Kv (.. - dq) the deviation of the motion for a deviation of
the parameters obeys

    M ddS + (D + Kv) dS + (K + Kp) S = G - W,

K = d tau/d q and D = d tau/d dq of the inverse model, W = d tau/d chi, and G what the gains change
by themselves when they follow the parameters. Integrated by the average acceleration method, which
is stable at any step.
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.inverse import derivatives
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED
from robot_id.dynamics.regressor import parameter_jacobian
from robot_id.dynamics.states import Array
from robot_id.kernel_cache import njit
from robot_id.robot import Robot


@njit(**INLINED)
def _solve(A, X):
    """Overwrite X (n, b) by A^-1 X and A (n, n) by its factors, rows exchanged for the pivots."""
    n, b = X.shape
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[pivot, j]):
                pivot = i
        if pivot != j:
            for c in range(n):
                A[j, c], A[pivot, c] = A[pivot, c], A[j, c]
            for c in range(b):
                X[j, c], X[pivot, c] = X[pivot, c], X[j, c]
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            for c in range(j + 1, n):
                A[i, c] -= factor * A[j, c]
            for c in range(b):
                X[i, c] -= factor * X[j, c]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            factor = A[i, j]
            for c in range(b):
                X[i, c] -= factor * X[j, c]
        for c in range(b):
            X[i, c] /= A[i, i]


@njit(**FAST)
def _average_acceleration(M, C, K, F, h, Kp, Kv, S, T):
    """
    Fill S (N, n, b) with the response of M ddS + C dS + K S = F from rest.

    T (N, n, b) becomes the torque of the feedback, -Kp S - Kv dS.
    """
    N, n, b = F.shape
    A, speed, a = np.empty((n, n)), np.zeros((n, b)), np.empty((n, b))
    x, v = np.empty((n, b)), np.empty((n, b))
    S[0], T[0] = 0.0, 0.0
    A[:], a[:] = M[0], F[0]
    _solve(A, a)
    for k in range(1, N):
        for i in range(n):
            for c in range(b):
                v[i, c] = speed[i, c] + 0.5 * h * a[i, c]
                x[i, c] = S[k - 1, i, c] + h * speed[i, c] + 0.25 * h * h * a[i, c]
        for i in range(n):
            for c in range(b):
                a[i, c] = F[k, i, c]
            for j in range(n):
                damping, stiffness = C[k, i, j], K[k, i, j]
                A[i, j] = M[k, i, j] + 0.5 * h * damping + 0.25 * h * h * stiffness
                for c in range(b):
                    a[i, c] -= damping * v[j, c] + stiffness * x[j, c]
        _solve(A, a)
        for i in range(n):
            for c in range(b):
                speed[i, c] = v[i, c] + 0.5 * h * a[i, c]
                S[k, i, c] = x[i, c] + 0.25 * h * h * a[i, c]
                T[k, i, c] = -Kp[i] * S[k, i, c] - Kv[i] * speed[i, c]


def loop_sensitivities(
    robot: Robot,
    chi: Array,
    q: Array,
    dq: Array,
    ddq: Array,
    step: float,
    feedback: tuple[Array, Array],
    gain_effect: Array | float = 0.0,
    coulomb_slope: float | None = None,
) -> tuple[Array, Array]:
    """
    Return d q/d chi and d tau/d chi along a motion, (N, n, b) each.

    :param q: (N, n) simulated motion on a uniform grid of `step` seconds, dq and ddq likewise.
    :param feedback: (n,) gains Kp and Kv of the torque.
    :param gain_effect: (N, n, b) G, the direct change of the torque through the gains.
    """
    W = parameter_jacobian(robot, chi, q, dq, ddq, coulomb_slope)
    motion = (q, dq, ddq)
    return _respond(robot, chi, motion, step, feedback, gain_effect, W, coulomb_slope)


def gain_sensitivities(
    robot: Robot,
    chi: Array,
    motion: tuple[Array, Array, Array],
    step: float,
    feedback: tuple[Array, Array],
    gain_effect: Array,
    coulomb_slope: float | None = None,
) -> tuple[Array, Array]:
    """
    Return d q/d theta and d tau/d theta of p numbers theta of the controller, (N, n, p) each.

    :param motion: q, dq, ddq, (N, n) each, on a uniform grid of `step` seconds.
    :param feedback: (n,) gains Kp and Kv of the torque.
    :param gain_effect: (N, n, p) what the numbers change of the torque directly.
    """
    return _respond(robot, chi, motion, step, feedback, gain_effect, 0.0, coulomb_slope)


def _respond(
    robot: Robot,
    chi: Array,
    motion: tuple[Array, Array, Array],
    step: float,
    feedback: tuple[Array, Array],
    effect: Array | float,
    W: Array | float,
    slope: float | None,
) -> tuple[Array, Array]:
    """Return S and T = G - Kp S - Kv dS of the equation above."""
    by_q, by_dq, M = derivatives(robot, chi, *motion, slope)
    Kp, Kv = feedback
    own = np.arange(robot.n)
    by_dq[:, own, own] += Kv
    by_q[:, own, own] += Kp
    force = np.asarray(effect - W)
    S, T = np.empty_like(force), np.empty_like(force)
    _average_acceleration(M, by_dq, by_q, force, step, Kp, Kv, S, T)
    T += effect
    return S, T
