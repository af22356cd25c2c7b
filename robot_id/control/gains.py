"""
Gains of a joint loop from its bandwidth, its damping and the inertia it moves.

Eq. 38 to 46 of paper 000: J_j is the largest M_jj(q), kp = wn / (2 zeta), kv = 2 zeta wn J. The
simulated loop keeps the bandwidth of the real one, so kv follows the current estimate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.inverse import inertia_matrix
from robot_id.dynamics.regressor import regressor
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.exceptions import SimulationError
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]


def loop_inertia(robot: Robot, chi: Array) -> Array:
    """(n,) J_j: the largest M_jj(q) over configurations within the limits (eq. 38)."""
    M = inertia_matrix(robot, chi, sample_configurations(robot))
    J = np.diagonal(M, axis1=1, axis2=2).max(axis=0)
    if not np.all(J > 0.0):
        joint = robot.joint_names[int(np.argmin(J))]
        raise SimulationError(
            f"{robot.name}: the estimate gives joint '{joint}' no inertia", joint=joint
        )
    return J


def loop_inertia_slope(robot: Robot, chi: Array) -> Array:
    """(n, b) d J_j/d chi: M_jj(q) is linear in chi, taken where it is largest."""
    q = sample_configurations(robot)
    largest = np.argmax(np.diagonal(inertia_matrix(robot, chi, q), axis1=1, axis2=2), axis=0)
    still, unit = np.zeros((robot.n, robot.n)), np.eye(robot.n)
    moved = regressor(robot, q[largest], still, unit) - regressor(robot, q[largest], still, still)
    return np.array([moved[j, j] for j in range(robot.n)])


def joint_gains(
    robot: Robot, loop: Loop, chi: Array | None, bandwidth_factor: float = 1.0
) -> tuple[Array, Array]:
    """
    (n,) kp in 1/s and kv in N.m.s/rad (N.s/m) of a joint loop.

    :param chi: (b,) parameters; None takes what the robot file gives, else the truth.
    """
    wn, zeta = np.array(loop.bandwidth) * bandwidth_factor, np.array(loop.damping)
    if chi is not None:
        J = loop_inertia(robot, chi)
    elif loop.inertia is not None:
        J = np.array(loop.inertia)
    else:
        J = loop_inertia(robot, robot.truth())
    kp = np.array(loop.kp) if loop.kp is not None and chi is None else wn / (2.0 * zeta)
    kv = np.array(loop.kv) if loop.kv is not None and chi is None else 2.0 * zeta * wn * J
    return kp, kv


def joint_gain_slopes(
    robot: Robot, loop: Loop, chi: Array, bandwidth_factor: float = 1.0
) -> tuple[Array, Array]:
    """(n, b) d (kp kv)/d chi = wn^2 dJ/d chi and d kv/d chi = 2 zeta wn dJ/d chi."""
    slope = loop_inertia_slope(robot, chi)
    wn, zeta = np.array(loop.bandwidth) * bandwidth_factor, np.array(loop.damping)
    return (wn**2)[:, None] * slope, (2.0 * zeta * wn)[:, None] * slope
