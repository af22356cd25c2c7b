"""A sampled reference, for the simulator, the controller and the ROS node."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from robot_id.data.uniform_time import UniformTime
from robot_id.exceptions import TrajectoryError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reference(UniformTime):
    """
    Uniformly sampled motion of n joints, N samples.

    :param time: (N,) seconds from 0, uniform step.
    :param position: (N, n) rad or m.
    :param velocity: (N, n) rad/s or m/s.
    :param acceleration: (N, n) rad/s^2 or m/s^2.
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        if self.time.ndim != 1 or len(self.time) < 2:
            raise TrajectoryError(
                f'a reference needs at least 2 samples, got time of shape {self.time.shape}'
            )
        if self.position.ndim != 2:
            raise TrajectoryError(f'position must be (N, n), got shape {self.position.shape}')
        for field in fields(self)[1:]:
            values = getattr(self, field.name)
            if values.shape != (len(self.time), self.position.shape[1]):
                raise TrajectoryError(
                    f'{field.name} has shape {values.shape}, expected '
                    f'({len(self.time)}, {self.position.shape[1]})'
                )

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.position.shape[1]
