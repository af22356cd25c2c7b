"""Unscented Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from robot_id.estimation.ekf import Ekf
from robot_id.online.kalman import KalmanFilter
from robot_id.online.ukf import UnscentedKalmanFilter


@dataclass(frozen=True)
class Ukf(Ekf):
    """
    Unscented (sigma-point) Kalman filter in square-root form, with the options of the EKF.

    It needs no Jacobian but 2 (2n + b) + 1 evaluations of the direct model per step.
    """

    name: ClassVar[str] = 'ukf'
    filter_class: ClassVar[type[KalmanFilter]] = UnscentedKalmanFilter
