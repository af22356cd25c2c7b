"""Where friction stands among the base parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.robot.friction import ROTOR
from robot_id.robot.robot import Robot


def friction_parameters(robot: Robot) -> NDArray[np.intp]:
    """Return the places of friction and offset among the base parameters."""
    terms = robot.terms
    own = set(robot.term_index[terms.parameter[terms.kind != ROTOR]].tolist())
    return np.array([i for i, c in enumerate(robot.base.columns) if int(c) in own], np.intp)
