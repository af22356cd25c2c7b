"""The load that was added to a robot since its arm was identified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.payload import PayloadEstimate, estimate_payload
from robot_id.estimation.parameters import parameters_for
from robot_id.estimation.result import Result
from robot_id.model import Robot

Array = NDArray[np.float64]


def added_load(robot: Robot, arm: Result, chi: Array, covariance: Array) -> PayloadEstimate:
    """
    Fit a load on the last link to the change from an earlier result to a present estimate.

    Parameters without a deviation in one of the two are not used.

    :param arm: result without the load, its parameters in any order.
    :param chi: (b,) the present estimate.
    :param covariance: (b, b) of it, NaN where a parameter is not known.
    """
    order = [arm.names.index(name) for name in robot.base.names]
    before = arm.covariance[np.ix_(order, order)]
    known = np.isfinite(np.diag(covariance)) & np.isfinite(np.diag(before))
    change = np.nan_to_num(covariance) + np.nan_to_num(before)
    return estimate_payload(robot, parameters_for(robot, arm), chi, change, known)
