"""The compiled factor of the rows of all joints, and the slopes in them."""

from __future__ import annotations

import math

import numpy as np

from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.kernel_cache import njit

# Sums may be taken in any order, which lets a processor take eight terms at once; NaN stays NaN.
ANY_ORDER = {**FAST, 'fastmath': {'reassoc', 'contract', 'nsz'}}
_PIECE = 400  # samples that are taken at once: the rows of one joint stay in the cache


@njit(**ANY_ORDER)
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


@njit(**ANY_ORDER)
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


@njit(**ANY_ORDER)
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
    pieces = -(-N // _PIECE)
    for j in range(len(ends) - 1):
        columns = changed[ends[j, 0] : ends[j + 1, 0]]
        for piece in range(pieces):
            first, end = N * piece // pieces, N * (piece + 1) // pieces
            work = np.zeros((len(columns), end - first))
            for k in range(ends[j, 1], ends[j + 1, 1]):
                row, entries = work[own[k]], rows[k, first:end]
                for s in range(len(row)):
                    row[s] = entries[s] * scale[k]
            add_rows(R, columns, work)


@njit(**ANY_ORDER)
def pull_back_rows(rows, inward, scale, places, ends, slope):
    """
    Fill the slope (A, N) in the entries of the rows where that in Phi is Phi @ inward.

    :param rows: (A, N) entries, joint by joint; scale (A,) their weights in Phi.
    :param inward: (p, p) symmetric.
    :param places: (A,) column of Phi of each entry.
    :param ends: (n + 1,) where the entries of each joint begin.
    """
    for j in range(len(ends) - 1):
        low, high = ends[j], ends[j + 1]
        block = np.empty((high - low, high - low))
        for i in range(low, high):
            for k in range(low, high):
                block[i - low, k - low] = scale[i] * inward[places[i], places[k]] * scale[k]
        np.dot(block, rows[low:high], slope[low:high])


def _factor(robot, chi, x):
    none = np.zeros(1, np.intp)
    factor_of_rows(x, x[0], none, np.array([[0, 0], [1, 1]]), none, x.copy())


KERNELS['factor_of_rows'] = Kernel(factor_of_rows, _factor)
KERNELS['pull_back_rows'] = Kernel(
    pull_back_rows,
    lambda robot, chi, x: pull_back_rows(x, x, x[0], np.zeros(1, np.intp), np.arange(2), x.copy()),
)
