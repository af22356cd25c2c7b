"""
Joint PD with the reference velocity: tau = kp kv (qr - q) + kv (dqr - dq), limited.

The gains are those of the cascade, kp = wn / (2 zeta) and kv = 2 zeta wn J.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from robot_id.control.laws.joint_pd import JointPd, JointPdSettings
from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.dynamics.simulation.law import own_velocity, torque_kernel
from robot_id.kernel_cache import njit


class PdSettings(JointPdSettings):
    """Its numbers."""


@torque_kernel(PdSettings)
@njit(**FAST)
def torque(settings, tree, memory, work, qr, dqr, ddqr, q, h, tau):
    """Fill tau (n,) with the torque for the measured position q, h seconds after the last one."""
    kp, kv, limit = settings.kp, settings.kv, settings.limit
    for j in range(q.shape[0]):
        speed = own_velocity(memory.before, settings.averaged, dqr, q, h, j)
        tau[j] = kp[j] * kv[j] * (qr[j] - q[j]) + kv[j] * (dqr[j] - speed)
        tau[j] = min(max(tau[j], -limit[j]), limit[j])


@dataclass(frozen=True)
class Pd(JointPd):
    """Joint PD with velocity feedforward."""

    name: ClassVar[str] = 'pd'
    settings: ClassVar[type[JointPdSettings]] = PdSettings
    feeds_velocity: ClassVar[bool] = True


LAW = Pd
