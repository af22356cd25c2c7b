"""Reading the measurements of a robot, with a look at whether they can be what they claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_id import data
from robot_id.model import Robot


def load_for(
    robot: Robot, paths: Sequence[str | Path], mapping: str | Path | None = None
) -> data.Dataset:
    """Read one or several recordings of a robot, columns in the order of its joints."""
    path = paths[0] if len(paths) == 1 else list(paths)
    return data.load(path, mapping, robot)


def implausible(robot: Robot, dataset: data.Dataset) -> tuple[str, ...]:
    """Return one line for each thing in the data that the robot's limits make unlikely."""
    limits, kinematics = robot.limits, robot.kinematics
    slides = [bool(np.any(kinematics.prismatic[kinematics.dof == j])) for j in range(robot.n)]
    found = data.check_plausible(
        dataset, limits.lower, limits.upper, limits.velocity, limits.torque, slides
    )
    return tuple(found)
