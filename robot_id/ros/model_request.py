"""New parameters for a controller's model, from a request."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.estimation.parameters import load_for_robot, parameters_for
from robot_id.estimation.result import Result
from robot_id.exceptions import DataError, DescriptionError
from robot_id.model import Robot
from robot_id.ros.data_directory import below
from robot_id.ros.messages import parameters_from

Array = NDArray[np.float64]


def start_values(robot: Robot, path: str) -> tuple[Robot, Array, str]:
    """
    Return the robot, (b,) the values that a node starts with, and where they come from.

    :param path: a result file, whose friction the robot gets, or a model file; `urdf` takes the
        inertias of its URDF, '' the a priori values of the robot file.
    """
    if not path:
        if not robot.description.a_priori:
            raise DescriptionError(
                f"{robot.name}: no model to start with: give 'a_priori' in a robot file, or the "
                "parameter 'parameters' (a result file, a model file, or urdf for the inertias "
                'of its URDF)'
            )
        return robot, robot.a_priori(), 'a_priori'
    robot, start, result = load_for_robot(robot, path)
    return robot, start, result.method


def requested(
    robot: Robot, request: Any, current: Array, data_directory: str
) -> tuple[Array, str]:
    """
    Return (b,) the wanted values and the method that they come from.

    :param request: of robot_id_msgs/srv/SetDynamicParameters.
    :param current: (b,) values that stay where the request names no others.
    :raises RobotIdError: on unknown or double names, values not finite, a path that leaves the
        data directory, a file that is no result of this robot.
    """
    given = request.parameters
    if len(given.names) or len(given.values):
        return parameters_from(robot, given, current), given.method or 'user'
    if not request.json_path:
        raise DataError('neither parameters nor json_path are given')
    result = Result.load(below(data_directory, request.json_path))
    return parameters_for(robot, result), result.method
