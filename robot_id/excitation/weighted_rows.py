"""
The rows of W that a criterion looks at, joint by joint with the columns that act on it.

The criterion needs the triangular factor R of the weighted rows only, R^T R = Phi^T Phi. A wrist
joint has few columns, and some columns act on one joint alone. With the columns in the order of
the last joint that has them, the rows of one joint after the other update few entries of R; that
costs a fraction of the factor of all rows side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.acting_rows import ActingRows
from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.kernel_cache import njit
from robot_id.trajectory.trajectory import Array

Indices = NDArray[np.intp]
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


class WeightedRows:
    """
    Rows Phi_j = g_j W_j diag(w) of all joints.

    :param acting: the entries of W.
    :param joint_weights: (n,) g.
    :param weights: (p,) w.
    :param columns: (b, p) combinations of the parameters that are looked at, W @ columns in the
        place of W; None for all.
    """

    def __init__(
        self, acting: ActingRows, joint_weights: Array, weights: Array, columns: Array | None
    ) -> None:
        self.acting = acting
        seen = list(acting.columns)
        self.combinations: list[Array] | None = None
        if columns is not None:
            seen = [np.flatnonzero(np.any(columns[own] != 0.0, axis=0)) for own in seen]
            self.combinations = [columns[np.ix_(*both)] for both in zip(acting.columns, seen)]
        self.order, place = _order(seen, len(weights))
        self.weights = weights[self.order]
        places = [place[own] for own in seen]
        self._steps = _steps(places)
        self._scale = np.concatenate([g * weights[own] for g, own in zip(joint_weights, seen)])
        self._places = np.concatenate(places)
        self._known: Array | None = None

    def add_known(self, states: Iterable[Array], steps: Iterable[float], seconds: float) -> None:
        """
        Let every factor hold the rows of recordings too, a second of them as one of the motion.

        :param states: (3, n, N) of each recording.
        :param steps: seconds from one of its states to the next.
        :param seconds: length of the motion.
        """
        parts = [
            self.factor(self.acting(x)) * np.sqrt(step / seconds) for x, step in zip(states, steps)
        ]
        self._known = np.asarray(np.linalg.qr(np.concatenate(parts), mode='r'))

    def factor(self, rows: Array) -> Array:
        """
        Return a (p, p) upper triangular factor; its columns and `weights` stand in `order`.

        :param rows: (A, N) acting entries of W.
        """
        samples = rows.shape[1]
        if self.combinations is not None:
            parts = zip(self.combinations, self.acting.parts(rows))
            rows = np.concatenate([C.T @ part for C, part in parts])
        p = len(self.weights)
        R = np.zeros((p, p))
        factor_of_rows(rows, self._scale, *self._steps, R)
        if self._known is not None:
            both = np.concatenate([R, np.sqrt(samples) * self._known])
            R = np.asarray(np.linalg.qr(both, mode='r'))
        return R

    def pull_back(self, rows: Array, inward: Array) -> Array:
        """
        Return the slope (A, N) in the entries of W where that in Phi is Phi @ inward.

        :param inward: (p, p), symmetric, in `order`.
        """
        slope = np.empty_like(rows)
        if self.combinations is None:
            pull_back_rows(rows, inward, self._scale, self._places, self.acting.ends, slope)
            return slope
        parts = zip(self.acting.parts(rows), self.acting.parts(slope), self.combinations)
        first = 0
        for own, out, C in parts:
            mine = slice(first, first + C.shape[1])
            first += C.shape[1]
            weighted = C * self._scale[mine]
            block = inward[np.ix_(self._places[mine], self._places[mine])]
            np.matmul(weighted @ block @ weighted.T, own, out=out)
        return slope


def _order(columns: list[Indices], count: int) -> tuple[Indices, Indices]:
    """Return the columns in the order of the last joint that has them, and their places in it."""
    last = np.full(count, len(columns))
    for j, own in enumerate(columns):
        last[own] = j
    order = np.argsort(last, kind='stable')
    return order, np.argsort(order)


def _steps(places: list[Indices]) -> tuple[Indices, Indices, Indices]:
    """
    Return the places in R that the rows of each joint change, their ends, and the joint's own.

    A row of R that a joint changes may hold columns of the joints before it: they change too.
    The joint's own columns are given by their number among those it changes.
    """
    changed, owned, held = [], [], np.empty(0, np.intp)
    for own in places:
        columns = np.union1d(held[held >= own.min()], own) if len(own) else own
        changed.append(columns)
        owned.append(np.searchsorted(columns, own))
        held = np.union1d(held, own)
    ends = np.cumsum([[0, 0], *([len(c), len(o)] for c, o in zip(changed, owned))], axis=0)
    return np.concatenate(changed), ends, np.concatenate(owned)
