"""
The rows of W that a criterion looks at, joint by joint with the columns that act on it.

The criterion needs the singular values s and right vectors V of the weighted rows only, and they
are those of its triangular factor; the rows of a wrist joint have few columns, so that the factor
costs a fraction of that of all rows side by side.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from robot_id.dynamics.acting_columns import acting_columns
from robot_id.model import Robot
from robot_id.trajectory.trajectory import Array


class WeightedRows:
    """
    Rows g_j W_j diag(w) of all joints.

    :param robot: the Robot.
    :param joint_weights: (n,) g.
    :param columns: (b, p) combinations of the parameters that are looked at; None for all.
    """

    def __init__(self, robot: Robot, joint_weights: Array, columns: Array | None) -> None:
        acting = acting_columns(robot)
        self.count = len(robot.base)
        if columns is not None:
            self.count = columns.shape[1]
            acting = tuple(np.flatnonzero(np.any(columns[own] != 0.0, axis=0)) for own in acting)
        self.combinations = columns
        self.columns = acting
        self.ends = np.cumsum([0, *(len(own) for own in acting)])
        self.flat = np.concatenate([j * self.count + own for j, own in enumerate(acting)])
        self.joint_weights = np.repeat(joint_weights, np.diff(self.ends))

    def of(self, W: Array, weights: Array | None) -> Array:
        """
        Return the acting entries (N, sum of b_j) of W (N, n, b), weighted.

        :param weights: (p,) w, None for ones.
        """
        if self.combinations is not None:
            W = W @ self.combinations
        rows = W.reshape(len(W), -1).take(self.flat, axis=1)
        rows *= self._weights(weights)
        return rows

    def factor(self, rows: Array) -> Array:
        """Return a (p, p) triangular factor of acting entries: that of all joints' rows."""
        work = np.array(rows, order='F')
        triangles = np.zeros((sum(min(len(rows), len(own)) for own in self.columns), self.count))
        first = 0
        for low, high, own in zip(self.ends, self.ends[1:], self.columns):
            R = _triangle(work[:, low:high])
            triangles[first : first + len(R), own] = R
            first += len(R)
        return _triangle(np.asfortranarray(triangles))

    def pull_back(self, rows: Array, inward: Array, weights: Array | None) -> Array:
        """
        Return the slope in W (N, n, b) where that in the rows is rows @ inward (p, p).

        Entries that do not act have some slope too; it changes nothing.
        """
        parts = np.empty((len(rows), len(self.columns), self.count))
        for j, (low, high, own) in enumerate(zip(self.ends, self.ends[1:], self.columns)):
            onto = self.joint_weights[low] * inward[own]
            np.matmul(rows[:, low:high], onto, out=parts[:, j])
        if weights is not None:
            parts *= weights
        return parts if self.combinations is None else parts @ self.combinations.T

    def _weights(self, weights: Array | None) -> Array:
        """(sum of b_j,) weight of each acting entry."""
        if weights is None:
            return self.joint_weights
        return self.joint_weights * np.concatenate([weights[own] for own in self.columns])


def _triangle(rows: Array) -> Array:
    """Return R of rows in Fortran's order, which are overwritten."""
    width = 32 * max(rows.shape[1], 1)
    R = lapack.dgeqrf(rows, lwork=width, overwrite_a=1)[0][: min(rows.shape)]
    return R * _upper(*R.shape)


@lru_cache
def _upper(rows: int, columns: int) -> Array:
    """Return ones on and above the diagonal; np.triu takes as long as the factor of few rows."""
    return np.triu(np.ones((rows, columns)))
