"""The controller of a loop of the robot file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.laws import law_named
from robot_id.dynamics.controller import Controller
from robot_id.model import Loop, Robot

Array = NDArray[np.float64]


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
