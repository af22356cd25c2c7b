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

import numba
import numpy as np

from robot_id.dynamics.derivatives import derivatives
from robot_id.dynamics.kernels import FAST
from robot_id.dynamics.regressor import parameter_jacobian
from robot_id.dynamics.states import Array
from robot_id.model import Robot


@numba.njit(**FAST)
def _average_acceleration(M, C, K, F, h, S, dS):
    """Fill S, dS (N, n, b) with the response of M ddS + C dS + K S = F from rest."""
    N = M.shape[0]
    a = np.linalg.solve(M[0], F[0])
    S[0] = 0.0
    dS[0] = 0.0
    for k in range(1, N):
        v = dS[k - 1] + 0.5 * h * a
        x = S[k - 1] + h * dS[k - 1] + 0.25 * h * h * a
        A = M[k] + 0.5 * h * C[k] + 0.25 * h * h * K[k]
        a = np.linalg.solve(A, F[k] - C[k] @ v - K[k] @ x)
        dS[k] = v + 0.5 * h * a
        S[k] = x + 0.25 * h * h * a


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
    force = np.asarray(effect - W)
    S, dS = np.empty_like(force), np.empty_like(force)
    _average_acceleration(M, by_dq + np.diag(Kv), by_q + np.diag(Kp), force, step, S, dS)
    return S, effect - Kp[:, None] * S - Kv[:, None] * dS
