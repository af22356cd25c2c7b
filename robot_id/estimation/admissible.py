"""The nearest parameters that have a direct model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import positive_on_motion
from robot_id.model import Robot

Array = NDArray[np.float64]
# First share of the way; it doubles.
SMALLEST_SHARE = 2.0**-14


def admissible(robot: Robot, chi: Array, motions: Sequence[Array]) -> Array:
    """
    (b,) parameters as near to chi as M(q) > 0 along (N, n) motions allows.

    The parameters with M(q) > 0 form a convex cone that holds unit inertias, so chi is moved
    towards these, a little at first.
    """
    regular, share = robot.regular_start(), 0.0
    while share < 1.0:
        moved = chi + share * (regular - chi)
        if positive_on_motion(robot, moved, motions):
            return moved
        share = max(2.0 * share, SMALLEST_SHARE)
    return regular
