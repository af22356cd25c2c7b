"""Postures that a robot can take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.model import Robot

Array = NDArray[np.float64]


def reachable(robot: Robot, recorded: Array, count: int, seed: int = 0) -> Array:
    """(count, n) random postures within the limits; without them a turn, or what was seen."""
    kinematics = robot.kinematics
    slides = np.array(
        [bool(np.any(kinematics.prismatic[kinematics.dof == j])) for j in range(robot.n)]
    )
    low = np.where(slides, recorded.min(axis=0), -np.pi)
    high = np.where(slides, recorded.max(axis=0), np.pi)
    low = np.where(np.isfinite(robot.limits.lower), robot.limits.lower, low)
    high = np.where(np.isfinite(robot.limits.upper), robot.limits.upper, high)
    return np.random.default_rng(seed).uniform(low, high, (count, robot.n))
