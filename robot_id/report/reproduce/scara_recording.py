"""The simulated SCARA of paper 004, recorded as the real one would be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.data import Dataset
from robot_id.dynamics import Disturbances
from robot_id.experiment import record
from robot_id.model import Robot
from robot_id.trajectory import Quintic


def quintics(
    robot: Robot, seconds: float, position_std: float, seed: int = 0, rate_hz: float = 100.0
) -> Dataset:
    """
    Follow fifth-order polynomials of 0.6 s between random stops, as in paper 004.

    :param position_std: noise of the positions beside the encoder steps, rad.
    """
    rng = np.random.default_rng(seed)
    moves = round(seconds / 0.6)
    way = np.zeros((moves + 1, 2))
    way[1:-1] = rng.uniform(-1, 1, (moves - 1, 2)) * [1.2, 2.0]
    motion = Quintic(way, np.full(moves, 0.6))
    loop = robot.loop().model_copy(update={'rate_hz': rate_hz})
    own = Disturbances.of_robot(robot, seed)
    noise = replace(own, position_std=np.full(robot.n, position_std))
    return record(robot, motion, loop=loop, disturbances=noise)
