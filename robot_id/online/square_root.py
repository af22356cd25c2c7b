"""Kalman filters that carry the square root S of their covariance, P = S S'."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robot_id.online.kalman import KalmanFilter
from robot_id.online.state_kernels import step_back

Array = NDArray[np.float64]


class SquareRootFilter(KalmanFilter):
    """
    S is lower triangular; each step makes the next one by a QR of rows that are never squared.

    The positions are measured directly, so the correction is the same for all of them: the
    triangle of [[R S_q], [0 S]] holds the gain and the corrected root.
    """

    def _restart(self, P: Array) -> None:
        n2, size = 2 * self.n, self.model.size
        self.narrowed = 0
        self._S = np.zeros((size, size))
        self._S[:n2, :n2] = np.diag(self.state_std)
        values, vectors = np.linalg.eigh(P)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        self._S[n2:, n2:] = lower(root)

    def _filter(self, Q: Array, acting: Array) -> int:
        noise = np.diag(np.concatenate([self.process_std, self.drift_std]))
        noise = noise[:, np.any(noise != 0.0, axis=0)]
        for k in range(len(Q)):
            if not self._predict(acting[k], noise):
                return k
            self._correct(Q[k])
            chi = self.z[2 * self.n :]
            self.moved_back += step_back(self.model.arrays, chi, self._good, self.guard)
            if not np.all(np.isfinite(self.z)):
                return k
        return len(Q)

    @abstractmethod
    def _predict(self, tau: Array, noise: Array) -> bool:
        """
        Advance the mean and the root one step; False when M(q) is lost for good.

        :param noise: (2n + b, m) root of what the step adds to the covariance.
        """

    def _correct(self, y: Array) -> None:
        n, size = self.n, self.model.size
        rows = np.zeros((n + size, n + size))
        rows[:n, :n] = np.diag(self.measurement_std)
        rows[:n, n:] = self._S[n : 2 * n]
        rows[n:, n:] = self._S
        root = lower(rows)
        innovation = solve_triangular(root[:n, :n], y - self.z[n : 2 * n], lower=True)
        self.z = self.z + root[n:, :n] @ innovation
        self.innovation += float(innovation @ innovation)
        self._S = root[n:, n:]

    def _parameter_covariance(self) -> Array:
        rows = self._S[2 * self.n :]
        return rows @ rows.T


def lower(factor: Array) -> Array:
    """Return the lower triangular S with S S' = factor factor'."""
    return np.ascontiguousarray(np.asarray(np.linalg.qr(factor.T, mode='r')).T)
