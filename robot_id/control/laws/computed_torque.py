"""
Computed torque (paper 003), with parameters that may change while it runs.

tau = M_hat(qr) w + N_hat(qr, dqr), w = Kp e + Kv de + Ki z + ddqr (eq. 11 and 13; Ki is zero
there), Kp = wn^2, Kv = 2 zeta wn. The model is linear in its parameters, so during an update the
torque is blended, tau = (1 - s) tau_from + s tau_to, and s moves by no more than the bound on the
torque jump allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels.friction import add_rotors
from robot_id.dynamics.kernels.models import cholesky_solve
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED, composite, poses
from robot_id.dynamics.kernels.tree import split_parameters
from robot_id.dynamics.simulation.controller import Controller, Law
from robot_id.dynamics.simulation.law import model_torque, own_velocity, torque_kernel
from robot_id.kernel_cache import njit
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]
FROM, TO, NOW = 0, 1, 2


class ComputedTorqueSettings(NamedTuple):
    """
    The constants of the law.

    :param measured: M_hat and N_hat at the measured instead of the reference state.
    :param averaged: velocity over the last two intervals instead of the last one.
    :param slope: alpha of the Coulomb friction, 2/pi atan(alpha dq).
    :param kp: (n,) 1/s^2; kv (n,) 1/s; ki (n,) 1/s^3.
    :param limit: (n,) torque limits, infinite for none.
    :param jump: (n,) largest torque change by a parameter update in one sample.
    """

    measured: bool
    averaged: bool
    slope: float
    kp: Array
    kv: Array
    ki: Array
    limit: Array
    jump: Array


class Memory(NamedTuple):
    """
    State kept from one sample to the next.

    :param before: (2, n) the last two measured positions, NaN before the first sample.
    :param integral: (n,) z, the integral of e.
    :param blend: (2,) progress s of the parameter update and its time in seconds.
    :param inertia: (3, nb, 10) inertial parameters: from, to, and blended.
    :param values: (3, e) the other parameters likewise.
    """

    before: Array
    integral: Array
    blend: Array
    inertia: Array
    values: Array


def fresh_memory(robot: Robot, parameters: Array, blend_s: float = 0.0) -> Memory:
    """Return the memory before the first sample, with the model of parameters (b,)."""
    inertia, values = split_parameters(robot, parameters)
    return Memory(
        before=np.full((2, robot.n), np.nan),
        integral=np.zeros(robot.n),
        blend=np.array([1.0, blend_s]),
        inertia=np.stack([inertia] * 3),
        values=np.stack([values] * 3),
    )


@torque_kernel(ComputedTorqueSettings)
@njit(**FAST)
def torque(settings, tree, memory, work, qr, dqr, ddqr, q, h, tau):
    """
    Fill tau (n,) with the torque for the measured position q, h seconds after the last one.

    Long because the blending and the limits share the two torques.
    """
    n = q.shape[0]
    rigid, rows = work
    w, at_q, at_dq, torques, lacking = rows[0], rows[1], rows[2], rows[3:5], rows[5]
    before, z = memory.before, memory.integral
    for j in range(n):
        speed = own_velocity(before, settings.averaged, dqr, q, h, j)
        e = qr[j] - q[j]
        w[j] = settings.kp[j] * e + settings.kv[j] * (dqr[j] - speed) + ddqr[j]
        w[j] += settings.ki[j] * z[j]
        at_q[j] = q[j] if settings.measured else qr[j]
        at_dq[j] = speed if settings.measured else dqr[j]
    slope = settings.slope
    inertia, values, blend = memory.inertia, memory.values, memory.blend
    blending = blend[0] < 1.0
    for i in range(FROM if blending else TO, TO + 1):
        model_torque(tree, inertia[i], values[i], at_q, at_dq, w, slope, rigid, torques[i])
    for j in range(n):
        tau[j] = torques[TO, j]
    if blending:
        advance = h / blend[1] if blend[1] > h else 1.0
        for j in range(n):
            change = abs(torques[TO, j] - torques[FROM, j])
            if change * advance > settings.jump[j]:
                advance = settings.jump[j] / change
        s = min(blend[0] + advance, 1.0)
        blend[0] = s
        for j in range(n):
            tau[j] = torques[FROM, j] + s * (torques[TO, j] - torques[FROM, j])
        inertia[NOW] = inertia[FROM] + s * (inertia[TO] - inertia[FROM])
        values[NOW] = values[FROM] + s * (values[TO] - values[FROM])
    saturated = False
    for j in range(n):
        allowed = min(max(tau[j], -settings.limit[j]), settings.limit[j])
        lacking[j] = allowed - tau[j]
        saturated = saturated or lacking[j] != 0.0
        tau[j] = allowed
    integrating = False
    for j in range(n):
        integrating = integrating or settings.ki[j] > 0.0
    if integrating:
        _integrate(tree, settings, memory, rigid, at_q, qr, q, h, saturated, lacking)


@njit(**INLINED)
def _integrate(tree, settings, memory, rigid, at_q, qr, q, h, saturated, lacking):
    """
    Move z on: dz = e + dw / (Ki T), dw = M_hat^-1 (tau_limited - tau), T = Kv / Kp.

    The back-calculation drives w to what the limited torque can do, so that z does not wind up.
    """
    n = q.shape[0]
    if saturated:
        R, p, C, M = rigid[0], rigid[1], rigid[7], rigid[8]
        poses(tree, at_q, R, p)
        composite(tree, memory.inertia[NOW], R, p, C, M)
        add_rotors(tree, memory.values[NOW], M)
        if not cholesky_solve(M, lacking):
            return
    for j in range(n):
        if settings.ki[j] > 0.0:
            rate = qr[j] - q[j]
            if saturated:
                rate += lacking[j] * settings.kp[j] / (settings.ki[j] * settings.kv[j])
            memory.integral[j] += h * rate


def error_gains(loop: Loop, bandwidth_factor: float = 1.0) -> tuple[Array, Array]:
    """(n,) Kp in 1/s^2 and Kv in 1/s of the error equation e'' + Kv e' + Kp e = 0 (eq. 14)."""
    wn = np.array(loop.bandwidth) * bandwidth_factor
    return wn**2, 2.0 * np.array(loop.damping) * wn


@dataclass(frozen=True)
class ComputedTorqueLaw(Law):
    """
    Computed torque as the law of a simulated loop: no integral, parameters as they are.

    :param measured: M_hat and N_hat at the measured q, dq instead of the reference.
    """

    name: ClassVar[str] = 'computed_torque'

    measured: bool = False

    def tune(
        self, robot: Robot, loop: Loop, chi: Array | None, bandwidth_factor: float
    ) -> Controller:
        """Return the controller; chi, or the truth, is its model."""
        return Controller(
            self,
            *error_gains(loop, bandwidth_factor),
            loop.rate_hz,
            robot.limits.torque,
            robot.truth() if chi is None else np.asarray(chi, float),
            robot.description.coulomb_slope,
            loop.velocity == 'averaged',
        )

    def numbers(self, robot: Robot, controller: Controller) -> ComputedTorqueSettings:
        """Return the numbers for the kernel."""
        kp, kv, limit = (
            np.array(x, float) for x in (controller.kp, controller.kv, controller.torque_limit)
        )
        return ComputedTorqueSettings(
            measured=self.measured,
            averaged=controller.averaged_velocity,
            slope=float(controller.coulomb_slope),
            kp=kp,
            kv=kv,
            ki=np.zeros(robot.n),
            limit=limit,
            jump=np.full(robot.n, np.inf),
        )

    def memory(self, robot: Robot, controller: Controller) -> Memory:
        """Return the memory before the first sample."""
        return fresh_memory(robot, controller.parameters)


LAW = ComputedTorqueLaw
