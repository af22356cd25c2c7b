"""
One compiled step of computed torque control, shared by the controller object and the simulator.

Paper 003: tau = M_hat(qr) w + N_hat(qr, dqr), w = Kp e + Kv de + Ki z + ddqr (eq. 11 and 13; Ki is
zero there). The model is linear in its parameters, so during an update the torque is blended,
tau = (1 - s) tau_from + s tau_to, and s moves by no more than the bound on the torque jump allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.direct import scratch
from robot_id.dynamics.friction import add_rotors
from robot_id.dynamics.kernels import FAST, INLINED, cholesky_solve, composite, poses
from robot_id.dynamics.loop_kernel import model_torque, plant_step

Array = NDArray[np.float64]
FROM, TO, NOW = 0, 1, 2
DONE, DIVERGED, NOT_POSITIVE = 0, 1, 2


class Settings(NamedTuple):
    """
    What does not change from sample to sample.

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
    What one sample leaves to the next.

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


@numba.njit(**FAST)
def step_scratch(nb, n):
    """Return the work arrays of `control_step`."""
    return scratch(nb, n), np.empty((6, n))


@numba.njit(**FAST)
def control_step(tree, settings, memory, work, qr, dqr, ddqr, q, h, tau):
    """Fill tau (n,) with the torque for the measured position q, h seconds after the last one."""
    n = q.shape[0]
    rigid, rows = work
    w, at_q, at_dq, torques, lacking = rows[0], rows[1], rows[2], rows[3:5], rows[5]
    before, z = memory.before, memory.integral
    for j in range(n):
        if np.isnan(before[0, j]):
            before[0, j] = q[j] - h * dqr[j]
            before[1, j] = q[j] - 2.0 * h * dqr[j]
        if settings.averaged:
            speed = (q[j] - before[1, j]) / (2.0 * h)
        else:
            speed = (q[j] - before[0, j]) / h
        before[1, j], before[0, j] = before[0, j], q[j]
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


@numba.njit(**INLINED)
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


@numba.njit(**FAST)
def one_step(tree, settings, memory, inputs, h, tau):
    """
    `control_step` for a call from Python, inputs (4, n): qr, dqr, ddqr, q.

    Every array that crosses the border costs more than the work arrays made here.
    """
    work = step_scratch(tree.parent.shape[0], tau.shape[0])
    control_step(tree, settings, memory, work, inputs[0], inputs[1], inputs[2], inputs[3], h, tau)


@numba.njit(**FAST)
def learning_loop(
    tree, inertia, values, slope, settings, memory, QR, DQR, DDQR, q, dq, h, substeps,
    noise, encoder_step, external, largest_error, Q, DQ, DDQ, TAU, MEASURED,
):  # fmt: skip
    """
    Run N samples of plant and controller and fill the records (N, n).

    q, dq (n,) and the memory are moved on, so the next call continues as if there were no border.
    Returns (status, sample, joint).
    """
    N, n = QR.shape
    work = step_scratch(tree.parent.shape[0], n)
    rigid = work[0]
    stage, first, total = np.empty((5, n)), np.empty(n), np.empty(n)
    for k in range(N):
        for j in range(n):
            x = q[j]
            if noise.shape[0] > 0:
                x += noise[k, j]
            if encoder_step[j] > 0.0:
                x = np.round(x / encoder_step[j]) * encoder_step[j]
            MEASURED[k, j] = x
        control_step(tree, settings, memory, work, QR[k], DQR[k], DDQR[k], MEASURED[k], h, TAU[k])
        for j in range(n):
            total[j] = TAU[k, j]
            if external.shape[0] > 0:
                total[j] += external[k, j]
            Q[k, j], DQ[k, j] = q[j], dq[j]
            if not abs(QR[k, j] - q[j]) <= largest_error[j]:
                return DIVERGED, k, j
        if not plant_step(
            tree, inertia, values, q, dq, total, slope, h, substeps, rigid, stage, first
        ):
            return NOT_POSITIVE, k, 0
        for j in range(n):
            DDQ[k, j] = first[j]
    return DONE, N, 0
