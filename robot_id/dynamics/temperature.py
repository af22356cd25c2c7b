"""
Friction that changes with the temperature, where the temperature is measured sample by sample.

It is linear in the temperature, so the columns for one kelvin are enough.
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.inverse import inverse_dynamics
from robot_id.dynamics.regressor import regressor
from robot_id.dynamics.states import Array
from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS, ROTOR


def feels_temperature(robot: Robot) -> bool:
    """Return whether any friction of the robot changes with the temperature."""
    kinds = robot.terms.kind.tolist()
    return any(k != ROTOR and COLUMNS[k - 1][0].modulation == 'temperature' for k in kinds)


def warm_columns(
    robot: Robot, dq: Array, temperature: Array, coulomb_slope: float | None
) -> Array:
    """
    (N, n, b) change of the base regressor by measured temperatures.

    :param dq: (N, n) speeds.
    :param temperature: (N, n) degrees Celsius.
    """
    still, (cold, warm), heat = _one_kelvin(robot, dq, temperature)
    unit = regressor(warm, still, dq, still, coulomb_slope)
    unit -= regressor(cold, still, dq, still, coulomb_slope)
    return unit * heat[:, :, None]


def warm_torques(
    robot: Robot, chi: Array, dq: Array, temperature: Array, coulomb_slope: float | None
) -> Array:
    """(N, n) change of the torques by measured temperatures, see `warm_columns`."""
    still, (cold, warm), heat = _one_kelvin(robot, dq, temperature)
    unit = inverse_dynamics(warm, chi, still, dq, still, coulomb_slope)
    return (unit - inverse_dynamics(cold, chi, still, dq, still, coulomb_slope)) * heat


def _one_kelvin(
    robot: Robot, dq: Array, temperature: Array
) -> tuple[Array, tuple[Robot, Robot], Array]:
    reference = robot.description.reference_temperature
    robots = robot.at_temperature(reference), robot.at_temperature(reference + 1.0)
    return np.zeros_like(dq), robots, temperature - reference
