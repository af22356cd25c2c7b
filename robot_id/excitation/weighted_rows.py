"""
The rows of W that a criterion looks at, joint by joint with the columns that act on it.

The criterion needs the triangular factor R of the weighted rows only, R^T R = Phi^T Phi. A wrist
joint has few columns, and some columns act on one joint alone. With the columns in the order of
the last joint that has them, the rows of one joint after the other update few entries of R; that
costs a fraction of the factor of all rows side by side.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.acting_rows import ActingRows
from robot_id.excitation.kernels import factor_of_rows, pull_back_rows
from robot_id.trajectory.trajectory import Array

Indices = NDArray[np.intp]


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
