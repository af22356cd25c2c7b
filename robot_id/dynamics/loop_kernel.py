"""
The compiled closed loop: sampled controller, zero-order hold, plant by RK4 with substeps.

At sample k the controller sees the measured position and sets the torque; the plant then moves to
sample k + 1. What is recorded at k satisfies the inverse model exactly: ddq_k is the acceleration
at (q_k, dq_k) under the torque of sample k and the external torque.
"""

from __future__ import annotations

import numba
import numpy as np

from robot_id.dynamics.direct import acceleration, scratch
from robot_id.dynamics.friction import add_drive_torques
from robot_id.dynamics.kernels import FAST, INLINED, motions, newton_euler, poses

DONE, DIVERGED, NOT_POSITIVE = 0, 1, 2


@numba.njit(**INLINED)
def model_torque(tree, inertia, values, q, dq, ddq, slope, work, tau):
    """Fill tau (n,) with the inverse model at one state (the computed torque)."""
    R, p, w, dw, a, force, moment = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    poses(tree, q, R, p)
    motions(tree, R, p, dq, ddq, w, dw, a)
    newton_euler(tree, inertia, R, p, w, dw, a, force, moment, tau)
    add_drive_torques(tree, values, dq, ddq, slope, tau)


@numba.njit(**INLINED)
def control_torque(
    tree, law, kp, kv, inertia, values, slope, qr, dqr, ddqr, q, dq, limit, work, command, tau
):
    """Fill tau (n,) with the saturated torque of the control law; command (3, n) is scratch."""
    n = q.shape[0]
    if law >= 2:
        for j in range(n):
            command[0, j] = kp[j] * (qr[j] - q[j]) + kv[j] * (dqr[j] - dq[j]) + ddqr[j]
            command[1, j] = qr[j] if law == 2 else q[j]
            command[2, j] = dqr[j] if law == 2 else dq[j]
        model_torque(tree, inertia, values, command[1], command[2], command[0], slope, work, tau)
    else:
        for j in range(n):
            feed = dqr[j] if law == 1 else 0.0
            tau[j] = kp[j] * kv[j] * (qr[j] - q[j]) + kv[j] * (feed - dq[j])
    for j in range(n):
        tau[j] = min(max(tau[j], -limit[j]), limit[j])


@numba.njit(**INLINED)
def plant_step(tree, inertia, values, q, dq, tau, slope, h, substeps, work, stage, first):
    """
    Advance q, dq (n,) by h under a held torque, RK4 in substeps; False if M(q) is not positive.

    first (n,) becomes the acceleration at the start; stage (5, n) is scratch.
    """
    n = q.shape[0]
    qs, vs, a, sum_v, sum_a = stage[0], stage[1], stage[2], stage[3], stage[4]
    part = h / substeps
    for s in range(4 * substeps):
        k = s % 4
        c = part if k == 3 else 0.5 * part
        for j in range(n):
            if k == 0:
                qs[j], vs[j], sum_v[j], sum_a[j] = q[j], dq[j], 0.0, 0.0
            else:
                qs[j], vs[j] = q[j] + c * vs[j], dq[j] + c * a[j]
        if not acceleration(tree, inertia, values, qs, vs, tau, slope, work, a):
            return False
        weight = 2.0 if k == 1 or k == 2 else 1.0
        for j in range(n):
            sum_v[j] += weight * vs[j]
            sum_a[j] += weight * a[j]
            if s == 0:
                first[j] = a[j]
            if k == 3:
                q[j] += part / 6.0 * sum_v[j]
                dq[j] += part / 6.0 * sum_a[j]
    return True


@numba.njit(**FAST)
def closed_loop(
    tree, inertia_sets, value_sets, switches, slope,
    law, kp, kv, limit, averaged, model_inertia, model_values, model_slope,
    QR, DQR, DDQR, q0, dq0, h, substeps,
    noise, encoder_step, external, largest_error,
    Q, DQ, DDQ, TAU, MEASURED,
):  # fmt: skip
    """Run N samples and fill the records (N, n); return (status, sample, joint)."""
    N, n = QR.shape
    work = scratch(tree.parent.shape[0], n)
    stage = np.empty((5, n))
    q, dq, first = q0.copy(), dq0.copy(), np.empty(n)
    before, before2 = q0 - h * dq0, q0 - 2.0 * h * dq0
    speed, command, tau, total = np.empty(n), np.empty((3, n)), np.empty(n), np.empty(n)
    active = 0
    for k in range(N):
        while active + 1 < switches.shape[0] and k >= switches[active + 1]:
            active += 1
        inertia, values = inertia_sets[active], value_sets[active]
        for j in range(n):
            x = q[j]
            if noise.shape[0] > 0:
                x += noise[k, j]
            if encoder_step[j] > 0.0:
                x = np.round(x / encoder_step[j]) * encoder_step[j]
            MEASURED[k, j] = x
            if averaged:
                speed[j] = (x - before2[j]) / (2.0 * h)
            else:
                speed[j] = (x - before[j]) / h
            before2[j], before[j] = before[j], x
        control_torque(
            tree, law, kp, kv, model_inertia, model_values, model_slope,
            QR[k], DQR[k], DDQR[k], MEASURED[k], speed, limit, work, command, tau,
        )  # fmt: skip
        for j in range(n):
            total[j] = tau[j]
            if external.shape[0] > 0:
                total[j] += external[k, j]
        for j in range(n):
            Q[k, j], DQ[k, j], TAU[k, j] = q[j], dq[j], tau[j]
            if not abs(QR[k, j] - q[j]) <= largest_error[j]:
                return DIVERGED, k, j
        if not plant_step(
            tree, inertia, values, q, dq, total, slope, h, substeps, work, stage, first
        ):
            return NOT_POSITIVE, k, 0
        for j in range(n):
            DDQ[k, j] = first[j]
    return DONE, N, 0
