"""
The compiled servo loop with its exact sensitivities to the parameters.

A step of h seconds drifts to the middle, kicks the velocity there and drifts on:

    q' = q + h/2 v
    M(q') (v+ - v) / h + e(q', (3 v - v-) / 2) + D (v + v+) / 2 + f = u(q' + h/4 (v+ - v), ...)
    q+ = q' + h/2 v+

with v- the velocity one step before, e the gravity and velocity torques, D = viscous + B of the
drive, and f dry friction within its budget (`stick`): of second order where nothing sticks. The
drive acts at the mean of q and q+, so a stiff loop on a light joint is stable at any step. The
derivative of this map is taken as it is, joint by joint at rest or in
motion, so the sensitivities are those of the simulated samples and not of an ideal motion.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels import friction as _functions
from robot_id.dynamics.kernels.rigid_body import (
    FAST,
    INLINED,
    composite,
    motions,
    newton_euler,
    poses,
)
from robot_id.dynamics.kernels.tangent import _backward, _forward
from robot_id.dynamics.simulation.servo.drives import DRIVES
from robot_id.dynamics.simulation.servo.stick import stopped_velocity
from robot_id.kernel_cache import njit
from robot_id.robot.friction.budget import TERMS

Array = NDArray[np.float64]
Index = NDArray[np.int64]
# Places of the numbers of a joint: these, then the friction terms, then those of the drive.
ARMATURE, VISCOUS, BIAS, DELAY, FILM = range(5)
FIRST_TERM = 5
TERM_COUNT = len(TERMS)
FIRST_DRIVE = FIRST_TERM + TERM_COUNT
DONE, DIVERGED, NOT_POSITIVE = 0, 1, 2
_ANONYMOUS = {key: value for key, value in INLINED.items() if key != 'cache'}
assert _functions is not None  # registers `sign` with the compiler


def _value_link(kind: int, function: Any, rest: Any) -> Any:
    value = njit(**_ANONYMOUS)(function)

    def answer(wanted, motor, external, film):  # type: ignore[no-untyped-def]
        if wanted == kind:
            return float(value(motor, external, film))
        return rest(wanted, motor, external, film)

    return njit(**_ANONYMOUS)(answer)


def _slopes_link(kind: int, function: Any, rest: Any) -> Any:
    slopes = njit(**_ANONYMOUS)(function)

    def answer(wanted, motor, external, film):  # type: ignore[no-untyped-def]
        if wanted == kind:
            by_motor, by_external, by_film = slopes(motor, external, film)
            return float(by_motor), float(by_external), float(by_film)
        return rest(wanted, motor, external, film)

    return njit(**_ANONYMOUS)(answer)


_value: Any = njit(**_ANONYMOUS)(lambda wanted, motor, external, film: np.nan)
_slopes: Any = njit(**_ANONYMOUS)(lambda wanted, motor, external, film: (np.nan, np.nan, np.nan))
for _kind, _term in enumerate(TERMS.values()):
    _value = _value_link(_kind, _term.value, _value)
    _slopes = _slopes_link(_kind, _term.slopes, _slopes)


def _drive_link(kind: int, function: Any, rest: Any) -> Any:
    torque = njit(**_ANONYMOUS)(function)

    def answer(wanted, x, gain, supply, warmth, error, z, v, by):  # type: ignore[no-untyped-def]
        if wanted == kind:
            return torque(x, gain, supply, warmth, error, z, v, by)
        return rest(wanted, x, gain, supply, warmth, error, z, v, by)

    return njit(**_ANONYMOUS)(answer)


def _no_drive(wanted, x, gain, supply, warmth, error, z, v, by):  # type: ignore[no-untyped-def]
    return np.nan, np.nan, np.nan, np.nan, np.nan, True


drive_torque: Any = njit(**_ANONYMOUS)(_no_drive)
for _kind, _drive in enumerate(DRIVES.values()):
    drive_torque = _drive_link(_kind, _drive.kernel, drive_torque)


class Inputs(NamedTuple):
    """
    What is known of a run, (N, n) each.

    :param command: positions that were commanded, also before the first sample and after the last.
    :param gain: recorded gains of the position loops.
    :param supply: voltages.
    :param warmth: resistance of the windings over that at 25 degC.
    :param enabled: 1 where the drive is on, 0 where the motor turns freely.
    :param step: seconds from sample to sample.
    :param substeps: steps in one sample.
    :param held: whether a command is held until the next one, else joined by straight lines.
    :param ahead: rows of `command` before the first sample.
    """

    command: Array
    gain: Array
    supply: Array
    warmth: Array
    enabled: Array
    step: float
    substeps: int
    held: bool
    ahead: int = 0


class Unknowns(NamedTuple):
    """
    What the sensitivities are taken to: p columns.

    :param joint: (e,) joint of each entry; place (e,) of the number; column (e,); factor (e,).
    :param first: column of the first of the directions.
    :param directions: (m, nb, 10) inertial parameters.
    :param position: (n, p) derivative of the first position; velocity (n, p) likewise.
    :param joint_external: whether a budget depends on the external torque.
    """

    joint: Index
    place: Index
    column: Index
    factor: Array
    first: int
    directions: Array
    position: Array
    velocity: Array
    joint_external: bool


@njit(**INLINED)
def command_at(inputs, k, s, delay, j):
    """Return command of joint j in substep s of sample k (the mean over it), and its slope."""
    h = inputs.step / inputs.substeps
    last = inputs.command.shape[0] - 1
    if inputs.held:
        start = k * inputs.step + s * h - delay
        x = (start + 1e-12) / inputs.step
        i = math.floor(x)
        low = min(max(i + inputs.ahead, 0), last)
        high = min(max(i + 1 + inputs.ahead, 0), last)
        over = start + h - (i + 1) * inputs.step
        first, following = inputs.command[low, j], inputs.command[high, j]
        if over < -1e-12:
            return first, 0.0
        return first + (following - first) * max(over, 0.0) / h, (following - first) / h
    x = k + (s + 0.5) / inputs.substeps - delay / inputs.step
    i = math.floor(x)
    low = min(max(i + inputs.ahead, 0), last)
    high = min(max(i + 1 + inputs.ahead, 0), last)
    first, following = inputs.command[low, j], inputs.command[high, j]
    slope = (following - first) / inputs.step
    return first + (following - first) * (x - i), slope


@njit(**FAST)
def servo_loop(
    tree, inertia, drive, numbers, inputs, unknowns, largest, q, v, position, sensitivity
):
    """
    Fill position (N, n) of the encoders and sensitivity (N, n, p); return status, sample, joint.

    Over 60 lines: one compiled loop, whose work arrays are made once and used in every step.

    :param inertia: (nb, 10).
    :param drive: number of the drive in the registry.
    :param numbers: (n, K) of each joint.
    :param largest: rad or m; a larger position is a divergence.
    :param q: (n,) at the first sample, v likewise; overwritten.
    :param sensitivity: (0, n, p) for none.
    """
    N, n = position.shape
    nb = tree.parent.shape[0]
    p = sensitivity.shape[2]
    wanted = sensitivity.shape[0] > 0
    m = unknowns.directions.shape[0]
    K = numbers.shape[1]
    d = K - FIRST_DRIVE
    entries = unknowns.joint.shape[0]
    h = inputs.step / inputs.substeps
    R, pp, C = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 10))
    w, dw, acc = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    force, moment = np.empty((nb, 3)), np.empty((nb, 3))
    tw, tdw, ta = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    tf, tm, column = np.empty((nb, 3)), np.empty((nb, 3)), np.empty(n)
    dangle, dspeed, speed = np.zeros(nb), np.zeros(nb), np.empty(nb)
    M, A, F = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    by_q, by_v, e_q = np.empty((n, n)), np.empty((n, n)), np.zeros((n, n))
    external, u, B, c, b = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    motor, new, side, a = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)
    u_error, u_z, u_v = np.empty(n), np.empty(n), np.empty(n)
    c_v, c_motor, c_external = np.empty(n), np.empty(n), np.empty(n)
    by = np.zeros((n, 3, d))
    local = np.zeros((n, K))
    slope, error, hold, z = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)
    zero, between, before = np.zeros(n), np.zeros(n), v.copy()
    Sw, Sbefore = np.zeros((n, p)), unknowns.velocity.copy()
    Sq, Sv, Sz = unknowns.position.copy(), unknowns.velocity.copy(), np.zeros((n, p))
    T = np.zeros((n, p))
    E = np.zeros((n, max(m, 1)))
    moving = np.empty(n, np.int64)
    for k in range(N):
        for j in range(n):
            position[k, j] = q[j] + numbers[j, BIAS]
            if not abs(position[k, j]) <= largest:
                return DIVERGED, k, j
        if wanted:
            for j in range(n):
                for t in range(p):
                    sensitivity[k, j, t] = Sq[j, t]
            for i in range(entries):
                if unknowns.place[i] == BIAS:
                    sensitivity[k, unknowns.joint[i], unknowns.column[i]] += unknowns.factor[i]
        if k == N - 1:
            break
        for s in range(inputs.substeps):
            for j in range(n):
                q[j] += 0.5 * h * v[j]
            poses(tree, q, R, pp)
            for j in range(n):
                # The velocity in the middle, from this step and the last one.
                between[j] = 1.5 * v[j] - 0.5 * before[j]
            motions(tree, R, pp, between, zero, w, dw, acc)
            newton_euler(tree, inertia, R, pp, w, dw, acc, force, moment, external)
            composite(tree, inertia, R, pp, C, M)
            if wanted and unknowns.joint_external:
                for i in range(nb):
                    speed[i] = tree.ratio[i] * between[tree.dof[i]]
                    dspeed[i] = 0.0
                for r in range(n):
                    for i in range(nb):
                        dangle[i] = tree.ratio[i] if tree.dof[i] == r else 0.0
                    _forward(tree, R, pp, w, dw, acc, speed, dangle, dspeed, tw, tdw, ta)
                    _backward(
                        tree, inertia, R, pp, w, force, moment, dangle, tw, tdw, ta, tf, tm, column
                    )
                    for i in range(n):
                        e_q[i, r] = column[i]
                for t in range(m):
                    newton_euler(
                        tree, unknowns.directions[t], R, pp, w, dw, acc, force, moment, column
                    )
                    for i in range(n):
                        E[i, t] = column[i]
            for j in range(n):
                x = numbers[j]
                M[j, j] += x[ARMATURE]
                wish, slope[j] = command_at(inputs, k, s, x[DELAY], j)
                error[j] = wish - q[j] - x[BIAS]
                hold[j] = 1.0
                if inputs.enabled[k, j] > 0.5:
                    u[j], B[j], u_error[j], u_z[j], u_v[j], held = drive_torque(
                        drive, x[FIRST_DRIVE:], inputs.gain[k, j], inputs.supply[k, j],
                        inputs.warmth[k, j], error[j], z[j], v[j], by[j],
                    )  # fmt: skip
                    hold[j] = 1.0 if held else 0.0
                else:
                    u[j], B[j], u_error[j], u_z[j], u_v[j] = 0.0, 0.0, 0.0, 0.0, 0.0
                    by[j] = 0.0
                motor[j] = u[j] - B[j] * v[j]
                ratio = v[j] / x[FILM]
                film = math.exp(-ratio * ratio)
                c[j], c_v[j], c_motor[j], c_external[j] = 0.0, 0.0, 0.0, 0.0
                local[j, FILM] = 0.0
                for i in range(TERM_COUNT):
                    own = x[FIRST_TERM + i]
                    if own == 0.0 and not wanted:
                        continue
                    f = _value(i, motor[j], external[j], film)
                    c[j] += own * f
                    if wanted:
                        by_m, by_e, by_film = _slopes(i, motor[j], external[j], film)
                        local[j, FIRST_TERM + i] = f
                        c_motor[j] += own * by_m
                        c_external[j] += own * by_e
                        c_v[j] += own * by_film * film * -2.0 * ratio / x[FILM]
                        local[j, FILM] += own * by_film * film * 2.0 * ratio * ratio / x[FILM]
                c[j] = max(c[j], 0.0)
            for j in range(n):
                D = B[j] + numbers[j, VISCOUS]
                stiff = 0.25 * h * h * u_error[j]
                b[j] = h * (u[j] - external[j]) + (stiff - 0.5 * h * D) * v[j]
                for i in range(n):
                    A[j, i] = M[j, i]
                    b[j] += M[j, i] * v[i]
                A[j, j] += 0.5 * h * D + stiff
                new[j] = v[j]
                if not A[j, j] > 0.0:
                    return NOT_POSITIVE, k, j
            stopped_velocity(A, b, c, h, new, side)
            if wanted:
                for j in range(n):
                    a[j] = (new[j] - v[j]) / h
                motions(tree, R, pp, between, a, w, dw, acc)
                newton_euler(tree, inertia, R, pp, w, dw, acc, force, moment, column)
                for i in range(nb):
                    speed[i] = tree.ratio[i] * between[tree.dof[i]]
                for r in range(2 * n):
                    for i in range(nb):
                        own = tree.ratio[i] if tree.dof[i] == r % n else 0.0
                        dangle[i] = own if r < n else 0.0
                        dspeed[i] = 0.0 if r < n else own
                    _forward(tree, R, pp, w, dw, acc, speed, dangle, dspeed, tw, tdw, ta)
                    _backward(
                        tree, inertia, R, pp, w, force, moment, dangle, tw, tdw, ta, tf, tm, column
                    )
                    for i in range(n):
                        if r < n:
                            by_q[i, r] = column[i]
                        else:
                            by_v[i, r - n] = column[i]
                for j in range(n):
                    for t in range(p):
                        Sq[j, t] += 0.5 * h * Sv[j, t]
                        Sw[j, t] = 1.5 * Sv[j, t] - 0.5 * Sbefore[j, t]
                        Sbefore[j, t] = Sv[j, t]
                # T = - d residual, for the numbers of the joints first.
                T[:] = 0.0
                for j in range(n):
                    # The motor's torque also loads the gear: its change counts 1 - side c_motor.
                    share = 1.0 - side[j] * c_motor[j]
                    mean = 0.5 * (v[j] + new[j])
                    local[j, ARMATURE] = -a[j]
                    local[j, VISCOUS] = -mean
                    local[j, BIAS] = -u_error[j] * share
                    local[j, DELAY] = -u_error[j] * slope[j] * share
                    local[j, FILM] *= -side[j]
                    for i in range(TERM_COUNT):
                        local[j, FIRST_TERM + i] *= -side[j]
                    for i in range(d):
                        local[j, FIRST_DRIVE + i] = (
                            by[j, 0, i] * share
                            - by[j, 1, i] * mean
                            - by[j, 2, i] * 0.25 * h * h * a[j]
                            + side[j] * c_motor[j] * by[j, 1, i] * v[j]
                        )
                for i in range(entries):
                    j, place, t = unknowns.joint[i], unknowns.place[i], unknowns.column[i]
                    T[j, t] += unknowns.factor[i] * local[j, place]
                for t in range(m):
                    newton_euler(
                        tree, unknowns.directions[t], R, pp, w, dw, acc, force, moment, column
                    )
                    for i in range(n):
                        T[i, unknowns.first + t] -= column[i] + side[i] * c_external[i] * E[i, t]
                for j in range(n):
                    share = 1.0 - side[j] * c_motor[j]
                    D = B[j] + numbers[j, VISCOUS]
                    pull = side[j] * c_external[j]
                    own_q = -u_error[j] * share
                    own_v = u_v[j] * share - 0.5 * D + 0.25 * h * u_error[j]
                    own_v += side[j] * (c_motor[j] * B[j] - c_v[j])
                    own_z = u_z[j] * share
                    for t in range(p):
                        T[j, t] += own_q * Sq[j, t] + own_v * Sv[j, t] + own_z * Sz[j, t]
                    for i in range(n):
                        fq = -by_q[j, i] - pull * e_q[j, i]
                        fv = M[j, i] / h
                        fw = -by_v[j, i] * (1.0 + pull)
                        for t in range(p):
                            T[j, t] += fq * Sq[i, t] + fv * Sv[i, t] + fw * Sw[i, t]
                count = 0
                for j in range(n):
                    if side[j] != 0.0:
                        moving[count] = j
                        count += 1
                    else:
                        for t in range(p):
                            Sv[j, t] = 0.0
                if not _solve_moving(A, F, T, Sv, moving, count, h):
                    return NOT_POSITIVE, k, 0
                for j in range(n):
                    if hold[j] == 0.0:
                        for t in range(p):
                            Sz[j, t] -= h * Sq[j, t]
                        for i in range(entries):
                            if unknowns.joint[i] == j:
                                t, f = unknowns.column[i], unknowns.factor[i]
                                if unknowns.place[i] == BIAS:
                                    Sz[j, t] -= h * f
                                elif unknowns.place[i] == DELAY:
                                    Sz[j, t] -= h * f * slope[j]
                    for t in range(p):
                        Sq[j, t] += 0.5 * h * Sv[j, t]
            for j in range(n):
                if hold[j] == 0.0:
                    z[j] += h * error[j]
                before[j] = v[j]
                v[j] = new[j]
                q[j] += 0.5 * h * v[j]
    return DONE, N, 0


@njit(**INLINED)
def _solve_moving(A, F, T, Sv, moving, count, h):
    """Fill Sv of the moving joints with h A^-1 T, A and T reduced to them (L D L')."""
    p = T.shape[1]
    for r in range(count):
        for s in range(count):
            F[r, s] = A[moving[r], moving[s]]
    for j in range(count):
        for i in range(j, count):
            for k in range(j):
                F[i, j] -= F[i, k] * F[k, j]
        if not F[j, j] > 0.0:
            return False
        F[j, j] = 1.0 / F[j, j]
        for i in range(j + 1, count):
            F[j, i] = F[i, j] * F[j, j]
    for r in range(count):
        own = moving[r]
        for t in range(p):
            Sv[own, t] = h * T[own, t]
        for k in range(r):
            f = F[k, r]
            for t in range(p):
                Sv[own, t] -= f * Sv[moving[k], t]
    for r in range(count - 1, -1, -1):
        own = moving[r]
        for t in range(p):
            Sv[own, t] *= F[r, r]
        for k in range(r + 1, count):
            f = F[r, k]
            for t in range(p):
                Sv[own, t] -= f * Sv[moving[k], t]
    return True
