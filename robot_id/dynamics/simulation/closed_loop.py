"""The closed-loop simulator: a robot with its sampled controller follows a reference."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.simulation.controller import Controller, RunningController
from robot_id.dynamics.simulation.disturbances import Disturbances, Simulation
from robot_id.dynamics.simulation.plant import Plant
from robot_id.exceptions import SimulationError
from robot_id.robot import Robot
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]


def simulate(
    robot: Robot,
    chi: Array,
    reference: Reference,
    controller: Controller,
    *,
    coulomb_slope: float | None = None,
    substeps: int | None = None,
    disturbances: Disturbances | None = None,
    initial: tuple[Array, Array] | None = None,
    largest_error: float = np.pi,
) -> Simulation:
    """
    Let the robot with base parameters chi follow the reference.

    :param coulomb_slope: of the plant; None takes the robot file's.
    :param substeps: RK4 steps per sample; None derives them from the stiffness of the friction.
    :param initial: (q, dq) at the start; None starts on the reference.
    :param largest_error: rad or m; a larger tracking error is a divergence.
    :raises SimulationError: with the time and the joint where it diverged, or where M(q) was lost.
    """
    q0, dq0 = initial or (reference.position[0], reference.velocity[0])
    plant = Plant(
        robot, chi, q0, dq0, rate_hz=controller.rate_hz, disturbances=disturbances,
        coulomb_slope=coulomb_slope, substeps=substeps, largest_error=largest_error,
    )  # fmt: skip
    running = RunningController(robot, controller)
    running.reset(q0, dq0)
    return plant.run(running, reference)


def simulate_many(
    robot: Robot,
    parameters: Sequence[Array],
    reference: Reference,
    controllers: Sequence[Controller],
    workers: int = 2,
    **options: object,
) -> list[Simulation | SimulationError]:
    """Simulate many parameter vectors side by side; a failed one gives its error in its place."""

    def one(pair: tuple[Array, Controller]) -> Simulation | SimulationError:
        try:
            return simulate(robot, pair[0], reference, pair[1], **options)  # type: ignore[arg-type]
        except SimulationError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, zip(parameters, controllers)))
