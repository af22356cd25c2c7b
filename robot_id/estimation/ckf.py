"""Cubature Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from robot_id.estimation.ekf import Ekf
from robot_id.online.ckf import CubatureKalmanFilter
from robot_id.online.kalman import KalmanFilter


@dataclass(frozen=True)
class Ckf(Ekf):
    """Cubature Kalman filter in square-root form, with the options of the EKF."""

    name: ClassVar[str] = 'ckf'
    filter_class: ClassVar[type[KalmanFilter]] = CubatureKalmanFilter
