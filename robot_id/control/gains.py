"""
Gains of a control loop from its bandwidth, its damping and the inertia it moves.

Eq. 38 to 46 of paper 000: J_j is the largest M_jj(q), kp = wn / (2 zeta), kv = 2 zeta wn J. The
simulated loop keeps the bandwidth of the real one, so kv follows the current estimate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.controller import Controller, Law
from robot_id.dynamics.inverse import inertia_matrix
from robot_id.dynamics.regressor import regressor
from robot_id.dynamics.simulation import sample_configurations
from robot_id.exceptions import SimulationError
from robot_id.model import Loop, Robot

Array = NDArray[np.float64]


def loop_inertia(robot: Robot, chi: Array) -> Array:
    """(n,) J_j: the largest M_jj(q) over configurations within the limits (eq. 38)."""
    M = inertia_matrix(robot, chi, sample_configurations(robot))
    J = np.diagonal(M, axis1=1, axis2=2).max(axis=0)
    if not np.all(J > 0.0):
        joint = robot.joint_names[int(np.argmin(J))]
        raise SimulationError(f"{robot.name}: the estimate gives joint '{joint}' no inertia")
    return J


def loop_inertia_slope(robot: Robot, chi: Array) -> Array:
    """(n, b) d J_j/d chi: M_jj(q) is linear in chi, taken where it is largest."""
    q = sample_configurations(robot)
    largest = np.argmax(np.diagonal(inertia_matrix(robot, chi, q), axis1=1, axis2=2), axis=0)
    still, unit = np.zeros((robot.n, robot.n)), np.eye(robot.n)
    moved = regressor(robot, q[largest], still, unit) - regressor(robot, q[largest], still, still)
    return np.array([moved[j, j] for j in range(robot.n)])


def tune(
    robot: Robot,
    loop: Loop,
    chi: Array | None = None,
    *,
    bandwidth_factor: float = 1.0,
    measured: bool = False,
) -> Controller:
    """
    Return the controller of a loop, its gains for the inertia of chi.

    :param chi: (b,) parameters; None takes the inertia that the robot file gives, else the truth.
        They are also the model of a computed torque law.
    :param bandwidth_factor: scale of the bandwidth (section 4.5 of paper 000).
    :param measured: computed torque at the measured instead of the reference state.
    """
    wn = np.array(loop.bandwidth) * bandwidth_factor
    zeta = np.array(loop.damping)
    limit = robot.limits.torque
    averaged = loop.velocity == 'averaged'
    slope = robot.description.coulomb_slope
    if loop.law == 'computed_torque':
        law = Law.COMPUTED_TORQUE_MEASURED if measured else Law.COMPUTED_TORQUE
        model = robot.truth() if chi is None else np.asarray(chi, float)
        return Controller(law, wn**2, 2.0 * zeta * wn, loop.rate_hz, limit, model, slope, averaged)
    if chi is not None:
        J = loop_inertia(robot, chi)
    elif loop.inertia is not None:
        J = np.array(loop.inertia)
    else:
        J = loop_inertia(robot, robot.truth())
    law = Law.PD_CASCADE if loop.law == 'pd_cascade' else Law.PD
    kp = np.array(loop.kp) if loop.kp is not None and chi is None else wn / (2.0 * zeta)
    kv = np.array(loop.kv) if loop.kv is not None and chi is None else 2.0 * zeta * wn * J
    return Controller(law, kp, kv, loop.rate_hz, limit, averaged_velocity=averaged)
