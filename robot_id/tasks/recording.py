"""A recording of a simulated robot: its own loop, a motion, its noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_id.blas_threads import one_blas_thread
from robot_id.control import tune
from robot_id.control.tuning import loop_setting
from robot_id.data import Dataset
from robot_id.dynamics import Disturbances, Simulation, simulate
from robot_id.robot import Loop, Robot
from robot_id.trajectory import Reference, Trajectory
from robot_id.trajectory.default import motion_of


@one_blas_thread()
def perform(
    robot: Robot,
    motion: Trajectory | Reference | None = None,
    seed: int = 0,
    *,
    loop: str | Loop = 'default',
    parameters: ArrayLike | None = None,
    disturbances: Disturbances | None = None,
    cycles: int = 1,
) -> Simulation:
    """
    Let the simulated robot follow a motion in one of its control loops.

    :param motion: a trajectory, or a reference sampled at the rate of the loop; None takes the
        motion of the robot file.
    :param seed: of the robot file's noise; `disturbances` carry their own.
    :param loop: a loop of the robot file by its name, or a Loop.
    :param parameters: (b,) of the simulated robot; None takes the truth of the robot file.
    :param disturbances: None takes the noise of the robot file; `Disturbances()` is no noise.
    :param cycles: how often a periodic motion runs.
    :raises SimulationError: where the loop cannot follow the motion.
    """
    control = loop_setting(robot, loop) if isinstance(loop, str) else loop
    motion = motion_of(robot) if motion is None else motion
    if not isinstance(motion, Reference):
        motion = motion.sampled(control.rate_hz, cycles)
    chi = robot.truth() if parameters is None else np.asarray(parameters, float)
    if disturbances is None:
        disturbances = Disturbances.of_robot(robot, seed)
    return simulate(robot, chi, motion, tune(robot, control), disturbances=disturbances)


def record(
    robot: Robot,
    motion: Trajectory | Reference | None = None,
    seed: int = 0,
    *,
    loop: str | Loop = 'default',
    parameters: ArrayLike | None = None,
    disturbances: Disturbances | None = None,
    cycles: int = 1,
    every: int = 1,
) -> Dataset:
    """
    Return what a logger records while the simulated robot follows a motion (see `perform`).

    :param every: control samples per recorded one.
    """
    done = perform(
        robot, motion, seed, loop=loop, parameters=parameters, disturbances=disturbances,
        cycles=cycles,
    )  # fmt: skip
    return dataset_of(robot, done, every)


def dataset_of(robot: Robot, done: Simulation, every: int = 1) -> Dataset:
    """Return what a logger has recorded of a simulation, one sample in `every`."""
    return Dataset(robot.joint_names, (done.to_run(every),), source=f'{robot.name} simulated')
