"""The nearest parameters that have a direct model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import positive_on_motion
from robot_id.exceptions import IdentificationError
from robot_id.regression.consistency import Fitter
from robot_id.robot import Robot

Array = NDArray[np.float64]
# First share of the way; it doubles.
SMALLEST_SHARE = 2.0**-14


def consistent_start(
    robot: Robot, chi: Array, motions: Sequence[Array], covariance: Array | None = None
) -> Array:
    """
    (b,) parameters as near to chi as M(q) > 0 along (N, n) motions allows.

    The nearest physically consistent robot in the metric of the covariance still explains the
    data, as far as any robot can. Without a covariance, or where it is not found, chi is moved
    towards unit inertias, a little at first: the parameters with M(q) > 0 form a convex cone that
    holds these.

    :param covariance: (b, b) of chi.
    """
    if positive_on_motion(robot, chi, motions):
        return chi
    if covariance is not None:
        near = nearest_consistent(robot, chi, covariance)
        if near is not None and positive_on_motion(robot, near, motions):
            return near
    regular, share = robot.regular_start(), SMALLEST_SHARE
    while share < 1.0:
        moved = chi + share * (regular - chi)
        if positive_on_motion(robot, moved, motions):
            return moved
        share *= 2.0
    return regular


def nearest_consistent(
    robot: Robot, chi: Array, covariance: Array, covariance_factor: float = 1.0
) -> Array | None:
    """
    (b,) parameters of the physically consistent robot nearest to chi; None where none is found.

    :param covariance_factor: times the covariance: the prior bodies then weigh so much more, and
        keep small inertias farther away from zero.
    """
    try:
        return Fitter(robot).project(chi, covariance_factor * covariance).chi
    except IdentificationError:
        return None
