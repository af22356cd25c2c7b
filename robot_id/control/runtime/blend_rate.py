"""
How fast the torque may move to a new model, so that the robot keeps its speed limits.

During a blend the error follows the torque that the model changes by: e = M^-1 dtau / Kp once it
is slow against the loop, so the robot leaves its reference at the speed (d tau/dt) / (M Kp). The
start of such a ramp accelerates it by at most that speed times wn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.inverse import inertia_matrix
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.robot import Robot
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY

Array = NDArray[np.float64]
# Share of a joint's velocity and acceleration limit that a blend may add to its motion [-].
BLEND_SHARE = 0.1


def blend_rate(robot: Robot, chi: Array, kp: Array) -> Array:
    """
    (n,) the largest change of each joint's torque in a second, N.m/s or N/s.

    :param chi: (b,) the new model, whose smallest inertia of each joint counts.
    :param kp: (n,) wn^2 of the loop, 1/s^2.
    """
    limits = robot.limits
    v = np.where(np.isfinite(limits.velocity), limits.velocity, USUAL_VELOCITY)
    a = np.where(np.isfinite(limits.acceleration), limits.acceleration, USUAL_ACCELERATION)
    M = inertia_matrix(robot, chi, sample_configurations(robot))
    inertia = np.diagonal(M, axis1=1, axis2=2).min(axis=0)
    speed = BLEND_SHARE * np.minimum(v, a / np.sqrt(kp))
    return np.asarray(inertia * kp * speed, float)
