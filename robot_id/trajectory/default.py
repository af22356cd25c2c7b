"""The motion of a robot if no other one is named, and the motions of the papers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from robot_id.exceptions import TrajectoryError, did_you_mean
from robot_id.robot import Robot
from robot_id.trajectory.fourier import Fourier
from robot_id.trajectory.random import random_trajectory
from robot_id.trajectory.sampled_motion import SampledMotion
from robot_id.trajectory.store import load_trajectory, make_trajectory
from robot_id.trajectory.trajectory import Trajectory
from robot_id.trajectory.trapezoid import Trapezoid

USUAL_SECONDS = 10.0
# From a few samples to a day.
SHORTEST_S, LONGEST_S = 0.01, 86400.0


def emps_cycle() -> Trapezoid:
    """
    Return the cycle of paper 003: trapezoidal velocities of several amplitudes, 6.2 s, closed.

    The paper prints the shape and the length only; way points and times are ours: 0.25 m of
    stroke, cruise speeds from 0.06 to 0.36 m/s, 2.5 m/s^2.
    """
    return Trapezoid(
        waypoints=[[0.0], [0.25], [0.05], [0.15], [0.1], [0.2], [0.0]],
        velocity=0.5,
        acceleration=2.5,
        durations=[0.9, 0.8, 1.1, 0.9, 1.2, 0.7],
        dwell=0.1,
        periodic=True,
    )


def scara_multisine() -> Fourier:
    """
    Return sines that even a slow shoulder loop can follow: 0.1 to 0.28 Hz, the elbow to 0.83 Hz.

    Paper 000 prints no motion; with the loop of its robot (1 and 10 rad/s) faster references of
    the shoulder would not move it.
    """
    sine = np.zeros((2, 33))
    sine[0, [3, 6, 10]] = 1.2, -0.9, 0.6
    sine[1, [14, 23, 32]] = 0.7, -0.6, 0.5
    return Fourier.at_rest(40.0, [0.0, 0.0], sine, np.zeros_like(sine))


STANDARD = {'emps_cycle': emps_cycle, 'scara_multisine': scara_multisine}


def standard_trajectory(name: str) -> Trajectory:
    """Return a motion by its name."""
    if name not in STANDARD:
        hint = did_you_mean(name, (*STANDARD, 'random'))
        raise TrajectoryError(f"no standard trajectory '{name}': {hint}", key=name)
    return STANDARD[name]()


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
