"""The compiled parts of an evaluation: the factor of all rows, and the norm of the limits."""

from __future__ import annotations

import math

import numba
import numpy as np

from robot_id.dynamics.kernels import FAST
from robot_id.dynamics.warm_up import KERNELS, Kernel

# Sums may be taken in any order, which lets a processor take eight terms at once; NaN stays NaN.
ANY_ORDER = {**FAST, 'fastmath': {'reassoc', 'contract', 'nsz'}}


@numba.njit(**ANY_ORDER)
def add_rows(R, columns, rows):
    """
    Update the triangular factor R (p, p) by N more rows, one Householder reflection per column.

    A reflection takes one row of R and all new rows, whose entries stand side by side.

    :param columns: (c,) ascending columns of the new rows; R may not have others in their rows.
    :param rows: (c, N) the new rows, transposed; overwritten.
    """
    c, N = rows.shape
    for i in range(c):
        k = columns[i]
        below = 0.0
        for s in range(N):
            below += rows[i, s] * rows[i, s]
        if below == 0.0:
            continue
        before = R[k, k]
        after = -math.copysign(math.sqrt(before * before + below), before)
        first = before - after  # the reflected vector is (first, rows[i])
        scale = -1.0 / (after * first)
        R[k, k] = after
        for j in range(i + 1, c):
            m = columns[j]
            along = first * R[k, m]
            for s in range(N):
                along += rows[i, s] * rows[j, s]
            along *= scale
            R[k, m] -= along * first
            for s in range(N):
                rows[j, s] -= along * rows[i, s]


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
