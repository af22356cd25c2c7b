"""How a filter of recorded data is set: as the data say, and more carefully where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import positive_on_motion
from robot_id.estimation.admissible import admissible, nearest_possible
from robot_id.estimation.result import Result
from robot_id.model import Robot

Array = NDArray[np.float64]
# A filter that starts from least squares may explain the torques this much worse, no more.
WORSE = 1.5


class Try(NamedTuple):
    """
    One setting of a filter.

    :param eased: of the start, see `nearest_possible`; 1: the least-squares estimate itself where
        it has a direct model.
    :param spread: times the deviations of the start.
    :param process: times those of the process.
    """

    eased: float
    spread: float
    process: float

    def words(self) -> str:
        """Return what a result says of it."""
        start = '' if self.eased == 1.0 else ', from a possible robot with inertias away from zero'
        return (
            'the first settings lost a positive definite M(q) or did not explain the torques: '
            f'repeated with parameter_std x {self.spread:g}, process_std x {self.process:g}{start}'
        )


# Ever nearer to the start: where M(q) is all but singular, the direct model turns any correction
# of a small inertia into an acceleration without bound.
TRIES = (
    Try(1.0, 1.0, 1.0),
    Try(1.0, 0.1, 3.0),
    Try(1e3, 0.1, 3.0),
    Try(1e3, 0.01, 10.0),
    Try(1e5, 0.01, 10.0),
)


def start_of(robot: Robot, wls: Result, positions: Sequence[Array], eased: float) -> Array:
    """(b,) parameters with a direct model that explain the data, from a least-squares result."""
    if eased > 1.0:
        near = nearest_possible(robot, wls.values, wls.covariance, eased)
        if near is not None and positive_on_motion(robot, near, positions):
            return near
    return admissible(robot, wls.values, positions, wls.covariance)
