"""The simulated SCARA of papers 000 and 004, recorded as the real one would be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.control import tune
from robot_id.data import Dataset
from robot_id.dynamics import Disturbances, Simulation, simulate
from robot_id.model import Robot
from robot_id.trajectory import Quintic
from robot_id.trajectory.default import motion_of


def in_loop(robot: Robot, loop_name: str, seed: int = 1) -> Simulation:
    """Follow the robot file's motion in one of its loops, with encoder steps and torque noise."""
    loop = robot.loop(loop_name)
    reference = motion_of(robot).sampled(loop.rate_hz)
    noise = Disturbances.of_robot(robot, seed)
    return simulate(robot, robot.truth(), reference, tune(robot, loop), disturbances=noise)


def quintics(
    robot: Robot, seconds: float, position_std: float, seed: int = 0, rate_hz: float = 100.0
) -> Simulation:
    """
    Follow fifth-order polynomials of 0.6 s between random stops, as in paper 004.

    :param position_std: noise of the positions beside the encoder steps, rad.
    """
    rng = np.random.default_rng(seed)
    moves = round(seconds / 0.6)
    way = np.zeros((moves + 1, 2))
    way[1:-1] = rng.uniform(-1, 1, (moves - 1, 2)) * [1.2, 2.0]
    reference = Quintic(way, np.full(moves, 0.6)).sampled(rate_hz)
    loop = robot.loop().model_copy(update={'rate_hz': rate_hz})
    own = Disturbances.of_robot(robot, seed)
    noise = replace(own, position_std=np.full(robot.n, position_std))
    return simulate(robot, robot.truth(), reference, tune(robot, loop), disturbances=noise)


def dataset_of(robot: Robot, run: Simulation) -> Dataset:
    """Return what a logger has recorded of it."""
    return Dataset(robot.joint_names, (run.to_run(),), source='simulated')
