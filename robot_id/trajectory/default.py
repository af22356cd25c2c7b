"""The motion of a robot if no other one is named."""

from __future__ import annotations

import os
from pathlib import Path

from robot_id.exceptions import TrajectoryError
from robot_id.robot import Robot
from robot_id.trajectory.random import random_trajectory
from robot_id.trajectory.sampled_motion import SampledMotion
from robot_id.trajectory.standard import STANDARD, standard_trajectory
from robot_id.trajectory.store import load_trajectory, make_trajectory
from robot_id.trajectory.trajectory import Trajectory

USUAL_SECONDS = 10.0
# From a few samples to a day.
SHORTEST_S, LONGEST_S = 0.01, 86400.0


def motion_of(
    robot: Robot, name: str | None = None, seconds: float | None = None, seed: int = 0
) -> Trajectory:
    """
    Return the motion with a name, else the robot file's, else a random one within the limits.

    :param name: a standard motion, 'random', or a trajectory file (.yaml, .json, .csv, a bag).
    :param seconds: duration of a random trajectory.
    :param seed: of a random trajectory.
    """
    if seconds is not None and not SHORTEST_S <= seconds <= LONGEST_S:
        raise TrajectoryError(
            f'the duration of a motion must be between {SHORTEST_S:g} and {LONGEST_S:g} s, got '
            f'{seconds:g} s'
        )
    if not 0 <= seed < 1 << 64:
        raise TrajectoryError(f'the seed must be 0 or more and below 2^64, got {seed}')
    if name is None and seconds is None and robot.description.motion is not None:
        motion = robot.description.motion
        return make_trajectory(motion) if isinstance(motion, dict) else standard_trajectory(motion)
    if name is None or name == 'random':
        return random_trajectory(robot.limits, seconds or USUAL_SECONDS, seed)
    if name in STANDARD or not (Path(name).suffix or os.path.exists(Path(name))):
        return standard_trajectory(name)
    if Path(name).suffix in ('.yaml', '.yml', '.json'):
        return load_trajectory(name, robot.joint_names)
    return SampledMotion.from_file(name, joint_names=robot.joint_names)
