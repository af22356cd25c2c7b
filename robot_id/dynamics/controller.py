"""The sampled controller of a simulated robot, as numbers that the compiled loop can run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Law(IntEnum):
    """
    Control laws, with e = qr - q and the controller's own velocity estimate dq.

    PD_CASCADE: tau = kp kv e - kv dq (paper 000 eq. 40). PD: tau = kp kv e + kv (dqr - dq).
    COMPUTED_TORQUE: tau = M(qr) w + N(qr, dqr), w = kp e + kv (dqr - dq) + ddqr (paper 003
    eq. 11).
    COMPUTED_TORQUE_MEASURED: the same with M and N at the measured q, dq.
    """

    PD_CASCADE = 0
    PD = 1
    COMPUTED_TORQUE = 2
    COMPUTED_TORQUE_MEASURED = 3


@dataclass(frozen=True)
class Controller:
    """
    One control loop with its gains.

    :param law: the control law.
    :param kp: (n,) 1/s for the PD laws, 1/s^2 for computed torque.
    :param kv: (n,) N.m.s/rad (N.s/m) for the PD laws, 1/s for computed torque.
    :param rate_hz: the torque is held between samples.
    :param torque_limit: (n,) saturation, infinite for none.
    :param parameters: (b,) model of the computed torque laws.
    :param coulomb_slope: alpha of the friction in that model.
    :param averaged_velocity: backward difference of the two-sample average, not of the position.
    """

    law: Law
    kp: Array
    kv: Array
    rate_hz: float
    torque_limit: Array
    parameters: Array = field(default_factory=lambda: np.empty(0))
    coulomb_slope: float = 1000.0
    averaged_velocity: bool = False
