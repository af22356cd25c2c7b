"""Friction against velocity: the torque that the rigid model leaves, and the fitted curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.result import Result
from robot_id.regression.preprocessing.options import resolve_options
from robot_id.regression.rows.sampling import States, walk
from robot_id.robot import Robot
from robot_id.robot.friction.columns import friction_parameters
from robot_id.robot.parameters.units import position_units, torque_units
from robot_id.tasks.validation import Conditions

Array = NDArray[np.float64]
POINTS = 201


@dataclass(frozen=True)
class FrictionCurve:
    """
    The friction of one joint.

    :param joint: its name.
    :param velocity: (r,) of the rows of the fit, rad/s or m/s.
    :param measured: (r,) measured torque less that of the rigid model.
    :param grid: (p,) velocities.
    :param fitted: (p,) friction and offset of the model, the other joints at rest.
    :param velocity_unit: of the velocities.
    :param torque_unit: of the torques.
    """

    joint: str
    velocity: Array
    measured: Array
    grid: Array
    fitted: Array
    velocity_unit: str
    torque_unit: str


def friction_curves(robot: Robot, result: Result, dataset: Dataset) -> tuple[FrictionCurve, ...]:
    """
    Return the friction of every joint along a recording.

    measured = tau - W_r chi_r, with the columns W_r of bodies and rotors; fitted = W_f chi_f.
    Where friction depends on the load, the curve is that at the mean posture.

    :param dataset: that was fitted, or another one.
    """
    robot = robot_for(robot, result)
    chi, places = parameters_for(robot, result), friction_parameters(robot)
    dataset, n = dataset.select(robot.joint_names), robot.n
    conditions = Conditions.of(result, dataset.rate)
    slope = conditions.coulomb_slope
    processing = resolve_options(conditions.processing, dataset, robot, slope).processing
    own = np.zeros_like(chi)
    own[places] = chi[places]

    def columns(states: States) -> Array:
        W = dynamics.regressor(robot, states.q, states.dq, states.ddq, coulomb_slope=slope)
        rigid = W @ (chi - own)
        return np.concatenate([states.torque - rigid, states.dq], axis=1)

    rows = list(walk(dataset, processing, columns))
    values = np.concatenate([part.values for part in rows])
    used = np.concatenate([part.used for part in rows])
    posture = np.mean(np.concatenate([run.position for run in dataset.runs]), axis=0)
    found = []
    for j, name in enumerate(robot.joint_names):
        velocity, measured = values[used[:, j], n + j], values[used[:, j], j]
        top = float(np.abs(velocity).max(initial=0.0)) or 1.0
        grid = np.linspace(-top, top, POINTS)
        dq = np.zeros((POINTS, n))
        dq[:, j] = grid
        q = np.tile(posture, (POINTS, 1))
        W = dynamics.regressor(robot, q, dq, np.zeros_like(q), coulomb_slope=slope)
        found.append(
            FrictionCurve(
                name, velocity, measured, grid, (W @ own)[:, j],
                f'{position_units(robot)[j]}/s', torque_units(robot)[j],
            )
        )  # fmt: skip
    return tuple(found)
