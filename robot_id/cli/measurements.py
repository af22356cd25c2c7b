"""What identify and validate share: reading the measurements of a robot."""

from __future__ import annotations

import numpy as np

from robot_id import data
from robot_id.cli.console import warn
from robot_id.model import Robot


def load_for(robot: Robot, paths: tuple[str, ...], mapping: str | None) -> data.Dataset:
    """Read one or several recordings of a robot; what looks wrong is a warning on stderr."""
    path = paths[0] if len(paths) == 1 else list(paths)
    dataset = data.load(path, mapping, joint_names=robot.joint_names)
    limits, kinematics = robot.limits, robot.kinematics
    slides = [bool(np.any(kinematics.prismatic[kinematics.dof == j])) for j in range(robot.n)]
    warn(
        data.check_plausible(
            dataset, limits.lower, limits.upper, limits.velocity, limits.torque, slides
        )
    )
    return dataset
