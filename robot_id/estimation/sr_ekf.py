"""Square-root extended Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from robot_id.estimation.ekf import Ekf
from robot_id.online.kalman import KalmanFilter
from robot_id.online.sr_ekf import SquareRootExtendedKalmanFilter


@dataclass(frozen=True)
class SrEkf(Ekf):
    """Extended Kalman filter in square-root form: as ekf, but slower, to compare with."""

    name: ClassVar[str] = 'sr_ekf'
    filter_class: ClassVar[type[KalmanFilter]] = SquareRootExtendedKalmanFilter
