"""Whole turns of joints between a motion and where the robot stands."""

from __future__ import annotations

import numpy as np

from robot_id.robot import Robot
from robot_id.trajectory import Trajectory
from robot_id.trajectory.trajectory import Array

TURN = 2.0 * np.pi


def whole_turns(robot: Robot, motion: Trajectory, position: Array) -> Array:
    """
    Return (n,) whole turns to add to a motion so that it begins nearest to a position (n,).

    A joint that may turn more than once meets the same torques a turn further. The motion stays
    within the limits; joints that slide, or turn others by a fraction of a turn, keep theirs.
    """
    peak, limits = motion.extremes(), robot.limits
    ratio = robot.kinematics.expansion()
    free = ~robot.prismatic & np.all(np.abs(ratio - np.round(ratio)) < 1e-9, axis=0)
    wanted = np.round((position - motion.sample(0.0)[0]) / TURN)
    # No turn is always within: the motion itself keeps the limits.
    least = np.minimum(np.ceil((limits.lower - peak.lower) / TURN), 0.0)
    most = np.maximum(np.floor((limits.upper - peak.upper) / TURN), 0.0)
    return np.where(free, np.clip(wanted, least, most), 0.0)
