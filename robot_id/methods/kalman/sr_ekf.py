"""Square-root extended Kalman filter on recorded data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.methods.kalman import state_step
from robot_id.methods.kalman.ekf import Ekf
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.square_root import SquareRootFilter, reflect, take_sample
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]


class SquareRootExtendedKalmanFilter(SquareRootFilter):
    """S <- triangle of [F S, Q^1/2], with the Jacobian F of the step: O((2n + b)^3) each."""

    def _run(self, Q: Array, acting: Array, noise: Array) -> int:
        model = self.model
        done = _run(
            model.arrays, self.z, self._S, self._good, Q, acting, self.guard, noise,
            self.measurement_std, model.slope, model.step, model.order, self.counters,
        )  # fmt: skip
        return int(done)


@njit(**KERNEL)
def _run(model, z, S, good, Q, acting, guard, noise, r, slope, step, order, counters):  # type: ignore[no-untyped-def]
    """Filter a block; return the number of samples that went well."""
    n, size = Q.shape[1], z.shape[0]
    n2 = 2 * n
    ahead, F = np.empty(size), np.empty((n2, size))
    A = np.empty((size, 2 * size))
    for k in range(Q.shape[0]):
        if not state_step.advance(model, z, acting[k], slope, step, order, ahead, F):
            return k
        good[:] = z[n2:]
        z[:] = ahead
        A[:n2, :size] = np.dot(F, S)
        A[n2:, :size] = S[n2:]
        A[:, size:] = 0.0
        columns = size
        for i in range(size):
            if noise[i] > 0.0:
                A[i, columns] = noise[i]
                columns += 1
        reflect(A, size, columns)
        S[:] = A[:, :size]
        if not take_sample(model, z, S, good, Q[k], r, guard, counters):
            return k
    return Q.shape[0]


@dataclass(frozen=True)
class SrEkf(Ekf):
    """Extended Kalman filter in square-root form: as ekf, but slower, to compare with."""

    name: ClassVar[str] = 'sr_ekf'
    filter_class: ClassVar[type[KalmanFilter]] = SquareRootExtendedKalmanFilter
