"""Validation in simulation: the closed loop with identified parameters against measurements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.control import tune
from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing, differentiate, usable
from robot_id.dynamics import simulate
from robot_id.estimation.loop_problem import SETTLING
from robot_id.estimation.loop_reference import reference_of
from robot_id.exceptions import DescriptionError, SimulationError
from robot_id.model import Robot
from robot_id.regression.sampling import long_enough

Array = NDArray[np.float64]
OUTPUTS = ('position', 'velocity', 'acceleration', 'torque')


def simulation_errors(
    robot: Robot,
    chi: Array,
    dataset: Dataset,
    processing: Processing,
    coulomb_slope: float | None = None,
) -> tuple[dict[str, float] | None, tuple[str, ...]]:
    """
    Return 100 ||x - x_simulated|| / ||x|| for position, velocity, acceleration, torque.

    The robot's own loop follows the recorded reference from the measured start; the first 5 / wn
    of a run are left out. Measured velocities and accelerations come from the filtered position,
    torques are compared as they were recorded. None, with the reason, where that is impossible.
    """
    if 'default' not in robot.description.loops:
        return None, ('no closed-loop simulation: the robot file has no loop',)
    indices, _ = long_enough(dataset, processing)
    runs = [dataset.runs[k] for k in indices if dataset.runs[k].reference_position is not None]
    if not runs:
        return None, ('no closed-loop simulation: the data have no reference',)
    loop = robot.loop()
    try:
        controller = tune(robot, loop)
    except DescriptionError:
        controller = tune(robot, loop, chi)
    slope = coulomb_slope or robot.description.identification_slope
    square, size = np.zeros(4), np.zeros(4)
    for run in runs:
        every = max(1, round(loop.rate_hz / run.rate))
        reference = reference_of(run, processing, every)
        q, dq, ddq = differentiate(run, processing, (0, len(run)))
        try:
            found = simulate(
                robot,
                chi,
                reference,
                replace(controller, rate_hz=reference.rate),
                coulomb_slope=slope,
                initial=(q[0], dq[0]),
            )
        except SimulationError as error:
            return None, (f'no closed-loop simulation: {error}',)
        first, last = usable(run, processing)
        first = max(first, int(np.ceil(SETTLING / min(loop.bandwidth) * run.rate)))
        if first >= last:
            return None, ('no closed-loop simulation: the runs end before the loop has settled',)
        simulated = (found.position, found.velocity, found.acceleration, found.torque)
        for k, (x, s) in enumerate(zip((q, dq, ddq, run.torque), simulated)):
            square[k] += np.sum((x - s[::every])[first:last] ** 2)
            size[k] += np.sum(x[first:last] ** 2)
    errors = 100.0 * np.sqrt(square / np.where(size > 0, size, np.nan))
    return {name: float(error) for name, error in zip(OUTPUTS, errors)}, ()
