"""Recursive least squares on UD factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack, solve_triangular

from robot_id.exceptions import OptionError
from robot_id.methods.recursive import ud
from robot_id.methods.recursive.recursive import RecursiveEstimator

Array = NDArray[np.float64]


class RecursiveLeastSquares(RecursiveEstimator):
    """
    chi_k = chi_{k-1} + K (y - W chi_{k-1}) with P = U D U' (Bierman's update for every row).

    Without supervision and without `initial_std` it starts exactly: rows are collected in a
    triangular factor until they determine all parameters, so no prior biases the estimate and
    after any number of samples it equals batch least squares.

    :param initial_std: (b,) or scalar, standard deviation of the start values in their own
        units; given, the filter starts at once from this prior.
    """

    def __init__(self, names, *, initial_std: ArrayLike | None = None, **options):  # type: ignore[no-untyped-def]
        self._initial_std = None if initial_std is None else np.asarray(initial_std, float)
        if self._initial_std is not None and np.any(self._initial_std <= 0):
            raise OptionError(f'initial_std = {self._initial_std}, must be positive')
        super().__init__(names, **options)

    def reset(self) -> None:
        """Forget all data and return to the start values and the prior."""
        super().reset()
        self._L, self._d = np.zeros((0, 0)), np.zeros(0)
        self._target = float('inf')
        if self._initial_std is None or self.information is None:
            return
        root = np.broadcast_to(self.scale / self._initial_std, (self.b,))
        self.information.R[: self.b, : self.b] = np.diag(root)
        self.information.R[: self.b, self.b] = root * self._held
        if self.supervisor is None:
            self._rebuild(None, None)

    def _absorb(self, W: Array, y: Array, Z: Array | None, rows: float) -> bool:
        forgetting = self.memory.forgetting
        if self._theta.size:
            H, e = self._project(W), y - W @ self._held
            if np.isfinite(self._target):
                grown, forgetting = ud.observe_rows_constant_trace(
                    self._theta, self._L, self._d, H, e, self._target, self.memory.lowest
                )
            else:
                grown = ud.observe_rows(self._theta, self._L, self._d, H, e, forgetting)
                if (
                    self.memory.kind == 'constant_trace'
                    and self.samples + 1 >= self.memory.samples
                ):
                    self._target = ud.trace(self._L, self._d)
        else:
            grown = 0.0
        self.rows = forgetting * self.rows + rows
        if self.information is None:
            self.squares = forgetting * self.squares + grown
            return False
        jumped = self.information.add(W, y, rows, forgetting)
        self.rows = self.information.rows
        self.squares = self.information.residual_squared
        return jumped

    def _may_start(self) -> bool:
        if self.information is None or self.rows < self.b or self._since_verdict < 5:
            return False
        self._since_verdict = 0
        R = self.information.factor
        norms = np.sqrt(np.einsum('ij,ij->j', R, R))
        if np.any(norms == 0.0):
            return False
        rcond, _ = lapack.dtrcon(np.asfortranarray(R / norms))
        return bool(rcond > 1e-9)

    def _rebuild(self, columns: NDArray[np.intp] | None, basis: Array | None) -> None:
        assert self.information is not None
        self._held = self.estimate / self.scale
        R, rhs = self.information.factor, self.information.right_side
        self._direct(*(_determined(R) if columns is None else (columns, basis)))
        rows = np.column_stack([self._project(R), rhs - R @ self._held])
        k = rows.shape[1] - 1
        if k == 0:
            self._theta, self._L, self._d = np.zeros(0), np.zeros((0, 0)), np.zeros(0)
            return
        factor: Array = np.asarray(np.linalg.qr(rows, mode='r'))[:k]
        self._move(solve_triangular(factor[:, :k], factor[:, k]))
        self._theta = np.zeros(k)
        share = ud.trace(self._L, self._d) / self._d.size if self._d.size else float('nan')
        self._L, self._d = ud.from_information(factor[:, :k])
        if np.isfinite(self._target) and np.isfinite(share):
            self._target = self._target / share * ud.trace(self._L, self._d) / k
        if self.supervisor is None and self.memory.kind != 'window':
            self.information = None

    @property
    def _torque_variance(self) -> float:
        assert self.information is not None
        return self.information.torque_squared / max(self.information.rows, 1.0)

    def _theta_covariance(self) -> Array:
        return ud.compose(self._L, self._d)

    def _information_matrix(self) -> Array:
        half = solve_triangular(self._L, np.eye(self.b), lower=True, unit_diagonal=True)
        half /= np.sqrt(self._d)
        half /= self.scale[:, None]
        return np.asarray(half @ half.T)


def _determined(R: Array) -> tuple[NDArray[np.intp] | None, Array | None]:
    """Return the directions that the window determines at all (above round-off)."""
    norms = np.sqrt(np.einsum('ij,ij->j', R, R))
    columns = np.flatnonzero(norms > 1e-12 * norms.max(initial=0.0))
    _, s, Vt = np.linalg.svd(R[:, columns], full_matrices=False)
    keep = s > 1e-12 * s.max(initial=0.0)
    if keep.all() and columns.size == R.shape[1]:
        return None, None
    return columns, None if keep.all() else np.ascontiguousarray(Vt[keep].T)
