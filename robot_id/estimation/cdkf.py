"""Central-difference Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from robot_id.estimation.ekf import Ekf
from robot_id.online.cdkf import CentralDifferenceKalmanFilter
from robot_id.online.kalman import KalmanFilter


@dataclass(frozen=True)
class Cdkf(Ekf):
    """Central-difference Kalman filter in square-root form, with the options of the EKF."""

    name: ClassVar[str] = 'cdkf'
    filter_class: ClassVar[type[KalmanFilter]] = CentralDifferenceKalmanFilter
