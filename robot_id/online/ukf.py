"""Sigma-point Kalman filter for state and parameters, in square-root form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robot_id.online.kalman import KalmanFilter
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
        self._S = np.zeros((size, size))
        self._S[:n2, :n2] = np.diag(self.state_std)
        values, vectors = np.linalg.eigh(P)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        self._S[n2:, n2:] = _lower(root)

    def _filter(self, Q: Array, acting: Array) -> int:
        noise = np.diag(np.concatenate([self.process_std, self.drift_std]))
        noise = noise[:, np.any(noise != 0.0, axis=0)]
        for k in range(len(Q)):
            try:
                self._predict(acting[k], noise)
            except NotPositive:
                if not self._step_back(acting[k], noise):
                    return k
            self._correct(Q[k])
            if not np.all(np.isfinite(self.z)):
                return k
        return len(Q)

    def _step_back(self, tau: Array, noise: Array) -> bool:
        """Move the parameters towards the last good ones and tighten the spread until f exists."""
        n2 = 2 * self.n
        for tries in range(12):
            self.z[n2:] = self._good + 0.5 * (self.z[n2:] - self._good)
            if tries >= 2:
                self._S[n2:] *= 0.7
            try:
                self._predict(tau, noise)
            except NotPositive:
                continue
            self.moved_back += 1
            return True
        return False

    def _predict(self, tau: Array, noise: Array) -> None:
        h, size = self.spread, self.model.size
        points = np.tile(self.z, (2 * size + 1, 1))
        points[1 : size + 1] += h * self._S.T
        points[size + 1 :] -= h * self._S.T
        f = self.model.advance_many(points, tau)
        self._good = self.z[2 * self.n :].copy()
        plus, minus = f[1 : size + 1], f[size + 1 :]
        self.z = ((h * h - size) * f[0] + 0.5 * (plus + minus).sum(axis=0)) / (h * h)
        first = (plus - minus).T / (2.0 * h)
        second = np.sqrt(h * h - 1.0) / (2.0 * h * h) * (plus + minus - 2.0 * f[0]).T
        used = np.any(second[: 2 * self.n] != 0.0, axis=0)
        self._S = _lower(np.hstack([first, second[:, used], noise]))

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
