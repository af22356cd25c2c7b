"""How well the present estimate explains the last samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robot_id.data import Dataset, Run
from robot_id.data.signals.processing import Processing, resolve
from robot_id.exceptions import RobotIdError
from robot_id.regression.rows.prediction import predict
from robot_id.robot import Robot

Array = NDArray[np.float64]


def recent_error(
    robot: Robot,
    rate_hz: float,
    chi: Array,
    position: Array,
    torque: Array,
    coulomb_slope: float | None = None,
) -> float:
    """
    Return 100 ||Y - W chi|| / ||Y|| of the last samples [%], NaN if they do not determine it.

    :param chi: (b,) the estimate.
    :param position: (N, n) of samples that follow each other at the rate; torque likewise.
    """
    time = np.arange(len(position)) / rate_hz
    try:
        dataset = Dataset(robot.joint_names, (Run(time, position, torque),), 'recent samples', ())
        loops = robot.description.loops
        bandwidth = robot.loop().bandwidth if 'default' in loops else None
        processing = resolve(Processing(), rate_hz, bandwidth)
        found = predict(robot, chi, dataset, processing, coulomb_slope)
        return float(found.relative_error_percent)
    except (RobotIdError, ValueError):
        return math.nan
