"""The closed loop among the kernels that are compiled before they are needed: once per law."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from robot_id.control.laws import law_named
from robot_id.dynamics.kernels.closed_loop import closed_loop
from robot_id.dynamics.simulation.closed_loop import simulate
from robot_id.dynamics.simulation.controller import Controller
from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.robot import Robot
from robot_id.robot.files.description import LawName
from robot_id.trajectory.reference import Reference

LAW_NAMES: tuple[str, ...] = get_args(LawName)


def _simulate(robot: Robot, chi: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    one, still = np.ones(1), np.zeros((3, 1))
    reference = Reference(np.arange(3) / 1000.0, still, still, still)
    for name in LAW_NAMES:
        simulate(robot, chi, reference, Controller(law_named(name), one, one, 1000.0, one, chi))


KERNELS['simulate'] = Kernel(closed_loop, _simulate, len(LAW_NAMES))
