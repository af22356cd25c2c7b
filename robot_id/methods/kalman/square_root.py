"""Kalman filters that carry the square root S of their covariance, P = S S'."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.state_kernels import step_back
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]
# Numbers that the compiled loops count.
MOVED, INNOVATION, CORRECTIONS, NARROWED = range(4)


class SquareRootFilter(KalmanFilter):
    """
    S is lower triangular; each step makes the next one by a QR of rows that are never squared.

    The positions are measured directly, so the correction is the same for all of them: the
    triangle of [[R S_q], [0 S]] holds the gain and the corrected root.
    """

    def reset(self) -> None:
        """Return to the start values and their uncertainty."""
        self.counters = np.zeros(4)
        super().reset()

    def _restart(self, P: Array) -> None:
        n2, size = 2 * self.n, self.model.size
        self._S = np.zeros((size, size))
        self._S[:n2, :n2] = np.diag(self.state_std)
        values, vectors = np.linalg.eigh(P)
        self._S[n2:, n2:] = lower(vectors * np.sqrt(np.maximum(values, 0.0)))

    def _filter(self, Q: Array, acting: Array) -> int:
        done = self._run(Q, acting, np.concatenate([self.process_std, self.drift_std]))
        self.moved_back += int(self.counters[MOVED])
        self.counters[MOVED] = 0.0
        self.innovation = float(self.counters[INNOVATION])
        return done

    @abstractmethod
    def _run(self, Q: Array, acting: Array, noise: Array) -> int:
        """
        Predict and correct with each sample, in place; return how many went well.

        :param noise: (2n + b,) deviations of what a step adds.
        """

    def _parameter_covariance(self) -> Array:
        rows = self._S[2 * self.n :]
        return rows @ rows.T


def lower(factor: Array) -> Array:
    """Return the lower triangular S with S S' = factor factor'."""
    rows = np.array(factor, float)
    if rows.shape[1] < rows.shape[0]:
        rows = np.hstack([rows, np.zeros((rows.shape[0], rows.shape[0] - rows.shape[1]))])
    reflect(rows, len(rows), rows.shape[1])
    return np.ascontiguousarray(np.tril(rows[:, : len(rows)]))


@njit(**KERNEL)
def reflect(A, pivots, columns):  # type: ignore[no-untyped-def]
    """
    Make the first rows of A lower triangular by reflections of its columns (Householder).

    A A' stays. What is right of the diagonal of these rows becomes zero.

    :param pivots: how many rows.
    :param columns: of A that are used, not fewer than pivots; the others stay.
    """
    rows = A.shape[0]
    v = np.empty(columns)
    for i in range(pivots):
        square = 0.0
        for c in range(i + 1, columns):
            square += A[i, c] * A[i, c]
        if square == 0.0:
            continue
        size = np.sqrt(square + A[i, i] * A[i, i])
        if A[i, i] > 0.0:
            size = -size
        v[i:] = A[i, i:columns]
        v[i] -= size
        share = 2.0 / (square + v[i] * v[i])
        A[i, i] = size
        A[i, i + 1 : columns] = 0.0
        for r in range(i + 1, rows):
            s = 0.0
            for c in range(i, columns):
                s += A[r, c] * v[c]
            s *= share
            for c in range(i, columns):
                A[r, c] -= s * v[c]


@njit(**KERNEL)
def correct(z, S, y, deviation):  # type: ignore[no-untyped-def]
    """
    Take the measured positions y (n,) into z and S; return the squared normalised innovation.

    Only the first 2n columns of S hold positions, so only these change.

    :param deviation: (n,) of the positions.
    """
    n, size = y.shape[0], z.shape[0]
    n2 = 2 * n
    A = np.zeros((n + size, n + n2))
    for j in range(n):
        A[j, j] = deviation[j]
        A[j, n:] = S[n + j, :n2]
    A[n:, n:] = S[:, :n2]
    reflect(A, n + n2, n + n2)
    total = 0.0
    e = np.empty(n)
    for i in range(n):
        e[i] = y[i] - z[n + i]
        for k in range(i):
            e[i] -= A[i, k] * e[k]
        e[i] /= A[i, i]
        total += e[i] * e[i]
    for r in range(size):
        for k in range(n):
            z[r] += A[n + r, k] * e[k]
    S[:, :n2] = A[n:, n:]
    return total


@njit(**KERNEL)
def take_sample(model, z, S, good, y, deviation, guard, counters):  # type: ignore[no-untyped-def]
    """Correct, and move the parameters back where M(q) is lost; False if z is not finite."""
    counters[INNOVATION] += correct(z, S, y, deviation)
    counters[CORRECTIONS] += y.shape[0]
    if step_back(model, z[2 * y.shape[0] :], good, guard):
        counters[MOVED] += 1.0
    return np.isfinite(z).all()
