"""The triangular factor of [W Y], updated row block by row block: all that least squares needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Reciprocal condition numbers that are far from those of a deficient matrix.
SURELY_FULL = 1e-7
# Singular values of scaled columns hold rounding below this share of the largest one.
RANK = 1e-9


def triangle(rows: Array) -> Array:
    """Return R of the QR factorisation of a matrix, min(r, k) rows."""
    return np.asarray(np.linalg.qr(rows, mode='r'), dtype=np.float64)


def column_sizes(rows: Array) -> Array:
    """Return (k,) norms of the columns, 1 for those that are zero."""
    sizes = np.linalg.norm(rows, axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


def smallest_solution(rows: Array) -> Array:
    """
    Return (k,) the least-squares solution of rows or a factor [A y], (r, k + 1).

    The columns are scaled to one; of what the rows do not determine it is the smallest, zero for
    a column of zeros.
    """
    A = rows[:, :-1]
    sizes = column_sizes(A)
    return np.asarray(np.linalg.lstsq(A / sizes, rows[:, -1], rcond=RANK)[0] / sizes)


class RowFactor:
    """
    R of a QR factorisation of all rows that were added, in memory of a few (k, k) blocks.

    Rows wait in a buffer until there are enough to make one factorisation worth its cost; the
    result depends on the rows alone (up to signs), not on how they were cut into blocks.

    :param columns: number k of columns.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows = 0
        self._blocks: list[Array] = []
        self._waiting = 0

    def add(self, rows: Array) -> None:
        """Take in a block of rows (r, k)."""
        if rows.shape[1] != self.columns:
            raise ValueError(f'rows have {rows.shape[1]} columns, the factor {self.columns}')
        self.rows += rows.shape[0]
        self._waiting += rows.shape[0]
        self._blocks.append(np.array(rows, dtype=float))
        if self._waiting > 8 * self.columns:
            self._reduce()

    def _reduce(self) -> None:
        if self._waiting:
            self._blocks = [triangle(np.concatenate(self._blocks))]
            self._waiting = 0

    @property
    def R(self) -> Array:
        """(k, k) upper triangular; rows of zeros fill it up when fewer than k rows were added."""
        self._reduce()
        R = np.zeros((self.columns, self.columns))
        if self._blocks:
            R[: self._blocks[0].shape[0]] = self._blocks[0]
        return R


@dataclass(frozen=True)
class JointFactors:
    """
    The factors of every joint's own system Y_j = W_j chi, from which all solutions follow.

    OLS, WLS, TLS, the residual norm of each joint and the condition number need no row of W again.

    :param names: the b parameter names.
    :param columns: for each joint the indices of the parameters that act on it, (b_j,).
    :param R: for each joint the (b_j + 1, b_j + 1) factor of [W_j Y_j].
    :param rows: (n,) number of equations of each joint.
    """

    names: tuple[str, ...]
    columns: tuple[Indices, ...]
    R: tuple[Array, ...]
    rows: NDArray[np.int_]

    @classmethod
    def of_rows(cls, names: Sequence[str], blocks: Sequence[tuple[Array, Array]]) -> JointFactors:
        """Factor whole matrices: one (W_j, Y_j) for each joint, W_j of shape (r_j, b)."""
        b = len(names)
        factors = [RowFactor(b + 1) for _ in blocks]
        for factor, (W, Y) in zip(factors, blocks):
            factor.add(np.column_stack([W, Y]))
        return cls.of_factors(names, [np.arange(b) for _ in blocks], factors)

    @classmethod
    def of_factors(
        cls, names: Sequence[str], columns: Sequence[Indices], factors: Sequence[RowFactor]
    ) -> JointFactors:
        """Take the factor of each joint, with the parameters that its columns stand for."""
        return cls(
            tuple(names),
            tuple(columns),
            tuple(factor.R for factor in factors),
            np.array([factor.rows for factor in factors]),
        )

    def stack(self, weights: Array | None = None) -> Array:
        """Return the (b + 1, b + 1) factor of all joints, the rows of joint j times weights[j]."""
        b = len(self.names)
        whole = RowFactor(b + 1)
        for j, (columns, R) in enumerate(zip(self.columns, self.R)):
            rows = np.zeros((R.shape[0], b + 1))
            rows[:, np.append(columns, b)] = R if weights is None else weights[j] * R
            whole.add(rows)
        return whole.R

    def residual_norms(self, chi: Array) -> Array:
        """(n,) ||Y_j - W_j chi||."""
        return np.array(
            [
                np.linalg.norm(R[:, -1] - R[:, :-1] @ chi[columns])
                for columns, R in zip(self.columns, self.R)
            ]
        )

    def torque_norms(self) -> Array:
        """(n,) ||Y_j||."""
        return np.array([np.linalg.norm(R[:, -1]) for R in self.R])

    def own_residuals(self) -> tuple[Array, NDArray[np.int_]]:
        """Return (n,) ||rho_j||_min of each joint's own regression, and its freedom r_j - p_j."""
        norms, freedom = [], []
        for R, rows in zip(self.R, self.rows):
            scaled = R[:, :-1] / column_sizes(R[:, :-1])
            columns = scaled.shape[1]
            if lapack.dtrcon(scaled[:columns])[0] > SURELY_FULL:
                # Of full rank: the residual of Y is in the corner.
                norms.append(abs(R[-1, -1]))
                freedom.append(int(rows) - columns)
                continue
            U, s, _ = np.linalg.svd(scaled, full_matrices=False)
            rank = int(np.sum(s > RANK * max(s.max(initial=0.0), 1e-300)))
            Y = R[:, -1]
            norms.append(float(np.linalg.norm(Y - U[:, :rank] @ (U[:, :rank].T @ Y))))
            freedom.append(int(rows) - rank)
        return np.array(norms), np.maximum(freedom, 0)

    def joint_deviations(self) -> Array:
        """
        Return (n,) sigma_j of each joint's own regression, eq. 6 of paper 004.

        sigma_j^2 = ||rho_j||_min^2 / (r_j - p_j), with p_j the rank of W_j.
        """
        norms, freedom = self.own_residuals()
        return np.asarray(norms / np.sqrt(np.maximum(freedom, 1)))
