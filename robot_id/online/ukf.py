"""Sigma-point Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robot_id.online.kalman import KalmanFilter
from robot_id.online.state_kernels import step_back
from robot_id.online.state_model import NotPositive

Array = NDArray[np.float64]


class UnscentedKalmanFilter(KalmanFilter):
    """
    No Jacobian: the model is evaluated at z and at z +- h s_i, s_i the columns of S, P = S S'.

    Weights are those of central differences (h = sqrt(3) for Gaussian errors): with
    a_i = (f_i+ - f_i-) / 2h and c_i = sqrt(h^2 - 1) (f_i+ + f_i- - 2 f_0) / 2h^2 the predicted
    covariance is sum a a' + c c' + Q, all terms positive, so its root always exists (the plain
    unscented weights have a large negative one for 72 states). Roots come from QR. Columns of the
    parameters leave dq and q alone, as S is lower triangular and the parameters come last.
    """

    spread = float(np.sqrt(3.0))

    def _restart(self, P: Array) -> None:
        n2, size = 2 * self.n, self.model.size
        self.narrowed = 0
        self._S = np.zeros((size, size))
        self._S[:n2, :n2] = np.diag(self.state_std)
        values, vectors = np.linalg.eigh(P)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        self._S[n2:, n2:] = _lower(root)

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

    def _predict(self, tau: Array, noise: Array) -> bool:
        """
        Advance the mean and the root one step; False when M(q) is lost for good.

        Where a sigma point is no possible robot, the points are drawn closer: the covariance is
        the same, the differences become derivatives, as in the extended filter.
        """
        for h in self.spread * 4.0 ** -np.arange(8.0):
            try:
                f = self.model.advance_many(self._points(h), tau)
            except NotPositive:
                self.narrowed += h == self.spread
                continue
            self._good = self.z[2 * self.n :].copy()
            self._combine(f, h, noise)
            return True
        return False

    def _points(self, h: float) -> Array:
        size = self.model.size
        points = np.tile(self.z, (2 * size + 1, 1))
        points[1 : size + 1] += h * self._S.T
        points[size + 1 :] -= h * self._S.T
        return points

    def _combine(self, f: Array, h: float, noise: Array) -> None:
        size = self.model.size
        plus, minus = f[1 : size + 1], f[size + 1 :]
        columns = [(plus - minus).T / (2.0 * h), noise]
        self.z = f[0].copy()
        if h > 1.0:
            bend = plus + minus - 2.0 * f[0]
            self.z += bend.sum(axis=0) / (2.0 * h * h)
            used = np.any(bend[:, : 2 * self.n] != 0.0, axis=1)
            columns.append(np.sqrt(h * h - 1.0) / (2.0 * h * h) * bend[used].T)
        self._S = _lower(np.hstack(columns))

    def _correct(self, y: Array) -> None:
        n, size = self.n, self.model.size
        rows = np.zeros((n + size, n + size))
        rows[:n, :n] = np.diag(self.measurement_std)
        rows[:n, n:] = self._S[n : 2 * n]
        rows[n:, n:] = self._S
        root = _lower(rows)
        innovation = solve_triangular(root[:n, :n], y - self.z[n : 2 * n], lower=True)
        self.z = self.z + root[n:, :n] @ innovation
        self.innovation += float(innovation @ innovation)
        self._S = root[n:, n:]

    def _parameter_covariance(self) -> Array:
        rows = self._S[2 * self.n :]
        return rows @ rows.T


def _lower(factor: Array) -> Array:
    """Return the lower triangular S with S S' = factor factor'."""
    return np.ascontiguousarray(np.asarray(np.linalg.qr(factor.T, mode='r')).T)
