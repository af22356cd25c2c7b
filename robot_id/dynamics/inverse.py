"""
Inverse dynamics tau = M(q) ddq + N(q, dq), its derivatives, M(q) and the bias N.

Direct dynamics are ddq = M(q)^-1 (tau - N(q, dq)).
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.models import (
    derivatives_kernel,
    direct_kernel,
    inertia_kernel,
    inverse_kernel,
)
from robot_id.dynamics.kernels.tree import Tree, split_parameters, tree_of
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.exceptions import SimulationError
from robot_id.robot import Robot


def inverse_dynamics(
    robot: Robot, chi: Array, q: Array, dq: Array, ddq: Array, coulomb_slope: float | None = None
) -> Array:
    """
    Return the joint torques of a motion, (N, n) or (n,).

    :param chi: (b,) base parameters.
    :param coulomb_slope: None for sign(dq), alpha for 2/pi atan(alpha dq).
    """
    single, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    inertia, values = split_parameters(robot, chi)
    tau, slope = np.empty_like(Q), slope_value(coulomb_slope)
    code = code_for(robot, 'inverse_dynamics', slope, len(Q))
    if code is None:
        inverse_kernel(tree_of(robot), inertia, values, Q, DQ, DDQ, slope, tau)
    else:
        code(chi, slope, (Q, DQ, DDQ), (tau,))
    return tau[0] if single else tau


def body_torques(
    robot: Robot, inertia: Array, q: Array, dq: Array, ddq: Array, tree: Tree | None = None
) -> Array:
    """
    Return the joint torques of the bodies alone, without rotors and friction, (N, n) or (n,).

    :param inertia: (nb, 10) inertial parameters of each body, in the order of the kinematics.
    :param tree: arrays of the robot with another gravity or other lengths; None for its own.
    """
    single, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    tau, values = np.empty_like(Q), np.zeros(len(robot.terms.names))
    rows = np.ascontiguousarray(inertia, dtype=np.float64)
    inverse_kernel(tree or tree_of(robot), rows, values, Q, DQ, DDQ, slope_value(None), tau)
    return tau[0] if single else tau


def bias(
    robot: Robot, chi: Array, q: Array, dq: Array, coulomb_slope: float | None = None
) -> Array:
    """Return N(q, dq): centrifugal, Coriolis, gravity and friction torques, (N, n) or (n,)."""
    return inverse_dynamics(robot, chi, q, dq, np.zeros_like(np.asarray(q, float)), coulomb_slope)


def inertia_matrix(robot: Robot, chi: Array, q: Array) -> Array:
    """Return M(q) with the rotors, (N, n, n) or (n, n)."""
    single, (Q,) = as_states(robot, q)
    inertia, values = split_parameters(robot, chi)
    M = np.empty((Q.shape[0], robot.n, robot.n))
    code = code_for(robot, 'inertia_matrix', 0.0, len(Q))
    if code is None:
        inertia_kernel(tree_of(robot), inertia, values, Q, M)
    else:
        code(chi, 0.0, (Q,), (M,))
    return M[0] if single else M


def derivatives(
    robot: Robot, chi: Array, q: Array, dq: Array, ddq: Array, coulomb_slope: float | None = None
) -> tuple[Array, Array, Array]:
    """
    Return d tau/d q, d tau/d dq and d tau/d ddq, (N, n, n) each or (n, n) for a single state.

    The last is M(q), but for friction that grows with the load, which scales its rows. With it,
    d ddq/d q = -(d tau/d ddq)^-1 d tau/d q, and likewise for dq. The slope of sign(dq) is zero.

    :param chi: (b,) base parameters, also those that no robot can have.
    """
    single, states = as_states(robot, q, dq, ddq)
    parts = tuple(np.empty((len(states[0]), robot.n, robot.n)) for _ in range(3))
    inertia, values = split_parameters(robot, chi)
    slope = slope_value(coulomb_slope)
    code = code_for(robot, 'derivatives', slope, len(states[0]))
    if code is None:
        derivatives_kernel(tree_of(robot), inertia, values, *states, slope, *parts)
    else:
        code(chi, slope, tuple(states), parts)
    by_q, by_dq, M = (part[0] for part in parts) if single else parts
    return by_q, by_dq, M


def direct_dynamics(
    robot: Robot, chi: Array, q: Array, dq: Array, tau: Array, coulomb_slope: float | None = None
) -> Array:
    """
    Return the accelerations under the torques tau, (N, n) or (n,).

    :param chi: (b,) base parameters; SimulationError where M(q) is not positive definite.
    """
    single, (Q, DQ, T) = as_states(robot, q, dq, tau)
    inertia, values = split_parameters(robot, chi)
    DDQ, slope = np.empty_like(Q), slope_value(coulomb_slope)
    code = code_for(robot, 'direct_dynamics', slope, len(Q))
    if code is None:
        failed = direct_kernel(tree_of(robot), inertia, values, Q, DQ, T, slope, DDQ)
    else:
        failed = code(chi, slope, (Q, DQ, T), (DDQ,))
    if failed >= 0:
        raise SimulationError(
            f'{robot.name}: M(q) is not positive definite at sample {failed}, q = '
            f'{np.array2string(Q[failed], precision=3)}',
            code='not_positive_definite',
        )
    return DDQ[0] if single else DDQ
