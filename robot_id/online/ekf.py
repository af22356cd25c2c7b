"""Extended Kalman filter for state and parameters, UD-factorised (paper 004)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.online import state_kernels, state_step, ud, ud_prediction
from robot_id.online.kalman import KalmanFilter

Array = NDArray[np.float64]


class ExtendedKalmanFilter(KalmanFilter):
    """
    Thornton's time update and Bierman's observation update on P = U D U'.

    With the parameters last in z = [dq q chi], their block of U and D does not change in the time
    update unless they drift, so a step costs O(n b^2) instead of O((2n + b)^3).
    """

    def _restart(self, P: Array) -> None:
        n2, size = 2 * self.n, self.model.size
        self._L, self._d = np.eye(size), np.empty(size)
        self._d[:n2] = self.state_std**2
        self._L[n2:, n2:], self._d[n2:] = ud.factorise(P)

    def new_run(self) -> None:
        """Begin another recording: keep the parameters and their covariance."""
        n2 = 2 * self.n
        self._L[:n2, :n2] = np.eye(n2)
        self._L[n2:, :n2] = 0.0
        self._d[:n2] = self.state_std**2
        self._tau = None

    def _filter(self, Q: Array, acting: Array) -> int:
        noise = np.concatenate([self.process_std, self.drift_std]) ** 2
        counters = np.zeros(2)
        done = _run(
            self.model.arrays, self.z, self._good, self._L, self._d, Q, acting, self.guard, noise,
            self.measurement_std**2, self.model.slope, self.model.step, self.model.order,
            counters,
        )  # fmt: skip
        self.moved_back += int(counters[0])
        self.innovation += float(counters[1])
        return int(done)

    def _parameter_covariance(self) -> Array:
        n2 = 2 * self.n
        return ud.compose(self._L[n2:, n2:], self._d[n2:])


@njit(cache=True, nogil=True, error_model='numpy')
def _run(model, z, good, L, d, Q, acting, guard, noise, r, slope, step, order, counters):  # type: ignore[no-untyped-def]
    """Filter a block; return the number of samples that went well."""
    n, size = Q.shape[1], z.shape[0]
    n2 = 2 * n
    ahead, F, gain, h = np.empty(size), np.empty((n2, size)), np.empty(size), np.zeros(size)
    drift = False
    for j in range(n2, size):
        drift = drift or noise[j] > 0.0
    full = np.eye(size)
    for k in range(Q.shape[0]):
        if not state_step.advance(model, z, acting[k], slope, step, order, ahead, F):
            return k
        good[:] = z[n2:]
        z[:] = ahead
        if drift:
            full[:n2] = F
            ud_prediction.predict(L, d, full, noise)
        else:
            ud_prediction.predict_constant_tail(L, d, F, noise[:n2])
        for j in range(n):
            h[n + j] = 1.0
            counters[1] += ud.observe(z, L, d, h, Q[k, j], r[j], gain)
            h[n + j] = 0.0
        if state_kernels.step_back(model, z[n2:], good, guard):
            counters[0] += 1
        for j in range(size):
            if not np.isfinite(z[j]):
                return k
    return Q.shape[0]
