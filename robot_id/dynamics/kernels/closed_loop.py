"""
The compiled closed loop: sampled controller, zero-order hold, plant by RK4 with substeps.

At sample k the controller sees the measured position and sets the torque; the plant then moves to
sample k + 1. What is recorded at k satisfies the inverse model exactly: ddq_k is the acceleration
at (q_k, dq_k) under the torque of sample k and the external torque.

There is one loop and one plant: `simulate`, the learning runs and the identification methods run
`closed_loop`, the ROS simulator runs `measure`, `one_torque` and `advance` sample by sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.generated.pointer import state_at
from robot_id.dynamics.kernels.models import acceleration, scratch
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED
from robot_id.dynamics.simulation.law import control_torque, control_work
from robot_id.kernel_cache import njit

Array = NDArray[np.float64]
DONE, DIVERGED, NOT_POSITIVE = 0, 1, 2


class Body(NamedTuple):
    """
    The simulated robot.

    :param inertia: (nb, 10) inertial parameters; values (e,) the others.
    :param slope: alpha of the Coulomb friction, 2/pi atan(alpha dq).
    :param encoder: (2, n) steps of the measured position, 0 for none, and where one of them lies.
    :param step: seconds from sample to sample.
    :param substeps: RK4 steps in one sample.
    :param chi: (b,) base parameters, for the generated code.
    :param code: address of the generated direct model, 0 for the generic kernels.
    """

    inertia: Array
    values: Array
    slope: float
    encoder: Array
    step: float
    substeps: int
    chi: Array
    code: int


class Motion(NamedTuple):
    """The reference, (N, n) each."""

    position: Array
    velocity: Array
    acceleration: Array


class World(NamedTuple):
    """
    Noise and external torques on the loop.

    :param noise: (N, n) on the measured position, (0, n) for none.
    :param external: (N, n) torques on the joints, (0, n) for none.
    :param largest_error: rad or m; a larger tracking error is a divergence.
    """

    noise: Array
    external: Array
    largest_error: float


class Records(NamedTuple):
    """What the loop fills in, (N, n) each."""

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    measured: Array


@njit(**INLINED)
def generated_step(body, q, dq, tau, stage, first):
    """
    `plant_step` by generated code.

    It stands apart and inside its caller: handing the tree over takes half as long as the code.
    """
    n = q.shape[0]
    x, v2, v3, v4, a1, a2, a3, a4 = (
        stage[0], stage[1], stage[2], stage[3], stage[4], stage[5], stage[6], stage[7],
    )  # fmt: skip
    code, chi, slope = body.code, body.chi, body.slope
    h = body.step / body.substeps
    half, sixth = 0.5 * h, h / 6.0
    for s in range(body.substeps):
        if not state_at(code, chi, slope, q, dq, tau, a1):
            return False
        for j in range(n):
            x[j], v2[j] = q[j] + half * dq[j], dq[j] + half * a1[j]
        if s == 0:
            for j in range(n):
                first[j] = a1[j]
        if not state_at(code, chi, slope, x, v2, tau, a2):
            return False
        for j in range(n):
            x[j], v3[j] = q[j] + half * v2[j], dq[j] + half * a2[j]
        if not state_at(code, chi, slope, x, v3, tau, a3):
            return False
        for j in range(n):
            x[j], v4[j] = q[j] + h * v3[j], dq[j] + h * a3[j]
        if not state_at(code, chi, slope, x, v4, tau, a4):
            return False
        for j in range(n):
            q[j] += sixth * (dq[j] + 2.0 * (v2[j] + v3[j]) + v4[j])
            dq[j] += sixth * (a1[j] + 2.0 * (a2[j] + a3[j]) + a4[j])
    return True


@njit(**FAST)
def plant_step(tree, body, q, dq, tau, work, stage, first):
    """
    Move q, dq (n,) on by one sample under a held torque; False if M(q) is not positive definite.

    first (n,) becomes the acceleration at the start; stage (8, n) is scratch.
    """
    n = q.shape[0]
    qs, vs, a, sum_v, sum_a = stage[0], stage[1], stage[2], stage[3], stage[4]
    part = body.step / body.substeps
    for s in range(4 * body.substeps):
        k = s % 4
        c = part if k == 3 else 0.5 * part
        for j in range(n):
            if k == 0:
                qs[j], vs[j], sum_v[j], sum_a[j] = q[j], dq[j], 0.0, 0.0
            else:
                qs[j], vs[j] = q[j] + c * vs[j], dq[j] + c * a[j]
        if not acceleration(tree, body.inertia, body.values, qs, vs, tau, body.slope, work, a):
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


@njit(**FAST)
def measure(q, noise, k, encoder, measured):
    """Fill measured (n,) with the position plus row k of the noise, quantised."""
    for j in range(q.shape[0]):
        x = q[j]
        if noise.shape[0] > 0:
            x += noise[k, j]
        if encoder[0, j] > 0.0:
            x = np.round((x - encoder[1, j]) / encoder[0, j]) * encoder[0, j] + encoder[1, j]
        measured[j] = x


@njit(**FAST)
def advance(tree, body, q, dq, tau, first):
    """One step, to be called from Python."""
    n = q.shape[0]
    stage = np.empty((8, n))
    if body.code != 0:
        return generated_step(body, q, dq, tau, stage, first)
    work = scratch(tree.parent.shape[0], n)
    return plant_step(tree, body, q, dq, tau, work, stage, first)


@njit(**FAST)
def one_torque(tree, law, memory, inputs, h, tau):
    """
    `control_torque` for a call from Python, inputs (4, n): qr, dqr, ddqr, q.

    Every array that crosses the border costs more than the work arrays made here.
    """
    work = control_work(tree.parent.shape[0], tau.shape[0])
    control_torque(law, tree, memory, work, inputs[0], inputs[1], inputs[2], inputs[3], h, tau)


@njit(**FAST)
def closed_loop(tree, body, law, memory, motion, world, q, dq, records):
    """
    Run N samples of plant and controller and fill the records.

    q, dq (n,) and the memory are moved on, so the next call continues without a break. Returns
    (status, sample, joint).
    """
    N, n = motion.position.shape
    work = control_work(tree.parent.shape[0], n)
    stage, first, total = np.empty((8, n)), np.empty(n), np.empty(n)
    for k in range(N):
        qr, x, tau = motion.position[k], records.measured[k], records.torque[k]
        measure(q, world.noise, k, body.encoder, x)
        control_torque(
            law, tree, memory, work, qr, motion.velocity[k], motion.acceleration[k], x,
            body.step, tau,
        )  # fmt: skip
        for j in range(n):
            total[j] = tau[j]
            if world.external.shape[0] > 0:
                total[j] += world.external[k, j]
            records.position[k, j], records.velocity[k, j] = q[j], dq[j]
            if not abs(qr[j] - q[j]) <= world.largest_error:
                return DIVERGED, k, j
        if body.code != 0:
            good = generated_step(body, q, dq, total, stage, first)
        else:
            good = plant_step(tree, body, q, dq, total, work[0], stage, first)
        if not good:
            return NOT_POSITIVE, k, 0
        for j in range(n):
            records.acceleration[k, j] = first[j]
    return DONE, N, 0
