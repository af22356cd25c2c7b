"""The controller of a loop of the robot file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.laws import law_named
from robot_id.dynamics.simulation.controller import Controller
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]
# A robot that is known by its kinematics alone gets a soft loop.
SOFT_BANDWIDTH, SOFT_RATE_HZ = 20.0, 500.0


def loop_setting(robot: Robot, name: str) -> Loop:
    """
    Return a loop of the robot file by its name, a soft one when the file has none at all.

    It is one of computed torque: gains for each joint alone swing where links without rotors turn
    each other.
    """
    if not robot.description.loops:
        return Loop(
            law='computed_torque',
            bandwidth=(SOFT_BANDWIDTH,) * robot.n,
            damping=(1.0,) * robot.n,
            rate_hz=SOFT_RATE_HZ,
        )
    return robot.loop(name)


def tune(
    robot: Robot,
    loop: Loop,
    chi: Array | None = None,
    *,
    bandwidth_factor: float = 1.0,
    **options: bool,
) -> Controller:
    """
    Return the controller of a loop, its gains for the inertia of chi.

    :param chi: (b,) parameters; None takes the inertia that the robot file gives, else the truth.
        They are also the model of a computed torque law.
    :param bandwidth_factor: scale of the bandwidth (section 4.5 of paper 000).
    :param options: of the law, such as `measured` of computed torque.
    """
    return law_named(loop.law, **options).tune(robot, loop, chi, bandwidth_factor)
