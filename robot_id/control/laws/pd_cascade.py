"""
Position loop around a velocity loop: tau = kv (kp (qr - q) - dq), limited (paper 000, eq. 40).

kp = wn / (2 zeta) and kv = 2 zeta wn J (eq. 38 to 46).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from robot_id.control.gains import joint_gain_slopes, joint_gains
from robot_id.dynamics.controller import Controller, Feedback, Law
from robot_id.dynamics.kernels import FAST
from robot_id.dynamics.law import own_velocity, torque_kernel
from robot_id.model import Loop, Robot

Array = NDArray[np.float64]


class PdCascadeSettings(NamedTuple):
    """Gains kp, kv and torque limit, (n,) each; averaged: velocity over two intervals."""

    kp: Array
    kv: Array
    limit: Array
    averaged: bool


class Memory(NamedTuple):
    """
    What one sample leaves to the next.

    :param before: (2, n) the last two measured positions, NaN before the first sample.
    """

    before: Array


@torque_kernel(PdCascadeSettings)
@numba.njit(**FAST)
def torque(settings, tree, memory, work, qr, dqr, ddqr, q, h, tau):
    """Fill tau (n,) with the torque for the measured position q, h seconds after the last one."""
    kp, kv, limit = settings.kp, settings.kv, settings.limit
    for j in range(q.shape[0]):
        speed = own_velocity(memory.before, settings.averaged, dqr, q, h, j)
        tau[j] = kp[j] * kv[j] * (qr[j] - q[j]) + kv[j] * (0.0 - speed)
        tau[j] = min(max(tau[j], -limit[j]), limit[j])


@dataclass(frozen=True)
class PdCascade(Law):
    """The cascade of paper 000."""

    name: ClassVar[str] = 'pd_cascade'

    def tune(
        self, robot: Robot, loop: Loop, chi: Array | None, bandwidth_factor: float
    ) -> Controller:
        """Return the controller with gains for the inertia of chi."""
        gains = joint_gains(robot, loop, chi, bandwidth_factor)
        averaged = loop.velocity == 'averaged'
        return Controller(
            self, *gains, loop.rate_hz, robot.limits.torque, averaged_velocity=averaged
        )

    def numbers(self, robot: Robot, controller: Controller) -> PdCascadeSettings:
        """Return the numbers for the kernel."""
        c = controller
        kp, kv, limit = (np.array(x, float) for x in (c.kp, c.kv, c.torque_limit))
        return PdCascadeSettings(kp, kv, limit, c.averaged_velocity)

    def memory(self, robot: Robot, controller: Controller) -> Memory:
        """Return the memory before the first sample."""
        return Memory(np.full((2, robot.n), np.nan))

    def feedback(self, controller: Controller) -> Feedback:
        """Return Kp = kp kv and Kv = kv of the torque."""
        return Feedback(controller.kp * controller.kv, controller.kv, feeds_velocity=False)

    def feedback_slopes(
        self, robot: Robot, loop: Loop, chi: Array, bandwidth_factor: float
    ) -> tuple[Array, Array]:
        """(n, b) d Kp/d chi and d Kv/d chi."""
        return joint_gain_slopes(robot, loop, chi, bandwidth_factor)


LAW = PdCascade
