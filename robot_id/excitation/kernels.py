"""The compiled parts of an evaluation: factor of all rows, averaged signs, norm of the limits."""

from __future__ import annotations

import math

import numba
import numpy as np

from robot_id.dynamics.kernels import FAST
from robot_id.dynamics.warm_up import KERNELS, Kernel

# Sums may be taken in any order, which lets a processor take eight terms at once; NaN stays NaN.
ANY_ORDER = {**FAST, 'fastmath': {'reassoc', 'contract', 'nsz'}}


@numba.njit(**ANY_ORDER)
def reflection(before, below):
    """
    Return (after, first, scale) of the reflection that turns (before, v) into (after, 0).

    The reflected vector is (first, v); x gives way by scale ((first, v) . x) (first, v).

    :param below: v . v; nothing is done where it is zero.
    """
    if below == 0.0:
        return before, 0.0, 0.0
    after = -math.copysign(math.sqrt(before * before + below), before)
    first = before - after
    return after, first, -1.0 / (after * first)


@numba.njit(**ANY_ORDER)
def add_rows(R, columns, rows):
    """
    Update the triangular factor R (p, p) by N more rows, one Householder reflection per column.

    A reflection takes one row of R and all new rows, whose entries stand side by side. Two of them
    are applied at once, so that the rows are read and written half as often.

    :param columns: (c,) ascending columns of the new rows; R may not have others in their rows.
    :param rows: (c, N) the new rows, transposed; overwritten.
    """
    c, N = rows.shape
    for i in range(0, c, 2):
        v, k = rows[i], columns[i]
        below = 0.0
        for s in range(N):
            below += v[s] * v[s]
        R[k, k], first, scale = reflection(R[k, k], below)
        if i + 1 == c:
            return
        w, m = rows[i + 1], columns[i + 1]
        along = first * R[k, m]
        for s in range(N):
            along += v[s] * w[s]
        along *= scale
        R[k, m] -= along * first
        below, cross = 0.0, 0.0
        for s in range(N):
            w[s] -= along * v[s]
        for s in range(N):
            below += w[s] * w[s]
            cross += v[s] * w[s]
        R[m, m], second, factor = reflection(R[m, m], below)
        for j in range(i + 2, c):
            x, p = rows[j], columns[j]
            along_v, along_w = 0.0, 0.0
            for s in range(N):
                along_v += v[s] * x[s]
                along_w += w[s] * x[s]
            along_v = scale * (along_v + first * R[k, p])
            along_w = factor * (along_w - along_v * cross + second * R[m, p])
            R[k, p] -= along_v * first
            R[m, p] -= along_w * second
            for s in range(N):
                x[s] -= along_v * v[s] + along_w * w[s]


@numba.njit(**ANY_ORDER)
def factor_of_rows(rows, scale, changed, ends, own, R):
    """
    Fill R (p, p), which is zero, with the triangular factor of all joints' rows.

    :param rows: (A, N) entries of the rows, joint by joint.
    :param scale: (A,) their weights.
    :param changed: columns of R that the rows of each joint change, ascending, joint by joint.
    :param ends: (n + 1, 2) where those of each joint begin in `changed` and in `own`.
    :param own: (A,) number of an entry's column among those that its joint changes.
    """
    N = rows.shape[1]
    for j in range(len(ends) - 1):
        columns = changed[ends[j, 0] : ends[j + 1, 0]]
        work = np.zeros((len(columns), N))
        for k in range(ends[j, 1], ends[j + 1, 1]):
            for s in range(N):
                work[own[k], s] = rows[k, s] * scale[k]
        add_rows(R, columns, work)


@numba.njit(**ANY_ORDER)
def averaged_signs(x, gain, half, rest, s, by_speed, by_gain, rms):
    """
    Fill s = m / rms(m) and the slopes of m, (a, N) each, see `averaged_friction`.

    :param x: (a, N) speeds; gain (a, N) dx/dt.
    :param half: of the part h / 4 of the step that the speed changes over.
    :param rest: (a,) speeds below which a joint is at rest.
    :param rms: (a,) gets the root mean squares of m.
    """
    count, N = x.shape
    for a in range(count):
        summed, least = 0.0, rest[a] * rest[a]
        for k in range(N):
            change = half * gain[a, k]
            width = change * change + least
            square = x[a, k] * x[a, k] + width
            size = math.sqrt(square)
            m = x[a, k] / size
            summed += m * m
            s[a, k] = m
            by_speed[a, k] = width / (square * size)
            by_gain[a, k] = -half * x[a, k] * change / (square * size)
        rms[a] = max(math.sqrt(summed / max(N, 1)), 1e-12)
        for k in range(N):
            s[a, k] /= rms[a]


@numba.njit(**ANY_ORDER)
def pull_back_signs(weight, direct, by_s, s, by_speed, by_gain, rms):
    """
    Overwrite `direct` and `by_s` by the slopes of a function in x and in dx/dt, (a, N) each.

    :param weight: (a, N) its slope in the entries; direct and by_s theirs in x and s.
    """
    count, N = s.shape
    for a in range(count):
        mean = 0.0
        for k in range(N):
            by_s[a, k] *= weight[a, k]
            mean += by_s[a, k] * s[a, k]
        mean /= max(N, 1)
        for k in range(N):
            along = (by_s[a, k] - s[a, k] * mean) / rms[a]
            direct[a, k] = along * by_speed[a, k] + weight[a, k] * direct[a, k]
            by_s[a, k] = along * by_gain[a, k]


@numba.njit(**ANY_ORDER)
def share_weights(shares, by_bound, exponent, top, total):
    """
    Overwrite the shares x (n, K) of the limits by sign(x) (|x| / top)^exponent by_bound.

    :param by_bound: (n, K) 1 / limit.
    :param exponent: a whole number, 1 at least.
    :param top: (n,) gets the largest |x| of each joint, 1 at least.
    :param total: (n,) gets the sums of (|x| / top)^(exponent + 1).
    """
    n, K = shares.shape
    power, square = np.empty(K), np.empty(K)
    for j in range(n):
        row = shares[j]
        largest = 1.0
        for s in range(K):
            largest = max(largest, abs(row[s]))
        top[j] = largest
        for s in range(K):
            square[s] = row[s] / largest
            power[s] = 1.0
        left = exponent
        # The sign of an even power is lost, and put back below.
        while left:
            if left & 1:
                for s in range(K):
                    power[s] *= square[s]
            left >>= 1
            if left:
                for s in range(K):
                    square[s] *= square[s]
        summed = 0.0
        for s in range(K):
            size = abs(power[s])
            summed += size * abs(row[s])
            row[s] = math.copysign(size, row[s]) * by_bound[j, s]
        total[j] = summed / largest


def _factor(robot, chi, x):
    none = np.zeros(1, np.intp)
    factor_of_rows(x, x[0], none, np.array([[0, 0], [1, 1]]), none, x.copy())


KERNELS['factor_of_rows'] = Kernel(factor_of_rows, _factor)
KERNELS['share_weights'] = Kernel(
    share_weights, lambda robot, chi, x: share_weights(x.copy(), x, 1, np.zeros(1), np.zeros(1))
)
KERNELS['averaged_signs'] = Kernel(
    averaged_signs,
    lambda robot, chi, x: averaged_signs(x, x, 1.0, x[0], *np.empty((3, *x.shape)), x[0].copy()),
)
KERNELS['pull_back_signs'] = Kernel(
    pull_back_signs,
    lambda robot, chi, x: pull_back_signs(*np.ones((6, *x.shape)), np.ones(len(x))),
)
