"""
The common part of the sigma-point filters: points z, z +- h c s_i, s_i the columns of S.

With f_0, f_i+ and f_i- one step later, their bend b_i = f_i+ + f_i- - 2 f_0, the mean
m = f_0 + sum b_i / 2h^2 and d = f_0 - m, the covariance of all of them is

    P = sum a_i a_i' + sum e_i e_i' + w d d' / c^2 + Q,
    a_i = (f_i+ - f_i-) / 2hc,  e_i = (p b_i + r d) / c.

c is the common scale of Q, R and P. An extended filter gives the same estimates with c^2 Q, c^2 R
and c^2 P0: it is free to have them too wide, and on recorded data they are, since encoder steps
are no white noise. Points at distances that are too wide see a friction that is smoother than
that of the robot. Their scale is what the innovations say (maximum likelihood: the mean square of
the normalised ones), and at most 1.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.methods.kalman import state_step
from robot_id.methods.kalman.square_root import (
    CORRECTIONS,
    INNOVATION,
    NARROWED,
    SquareRootFilter,
    reflect,
    take_sample,
)
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]
NARROWER = 4.0 ** -np.arange(8.0)
# No scale is smaller: differences of points nearer than this are rounding.
SMALLEST_SCALE = 1e-3


class SigmaPointFilter(SquareRootFilter):
    """
    No Jacobian: the model is evaluated at z and at z +- h c s_i, P = S S'.

    The filters differ by h and by how the points make the root; columns of the parameters leave
    dq and q alone, as S is lower triangular and the parameters come last.

    Where a sigma point is no physically consistent robot, the points are drawn closer: the
    covariance is the same, and within one deviation the differences become derivatives, as in the
    extended filter.
    """

    @property
    @abstractmethod
    def spread(self) -> float:
        """How far the points are, h."""

    @abstractmethod
    def _weights(self, h: float) -> tuple[float, float, float] | None:
        """Return p, r and w for points at h; None where these points have no root."""

    @property
    def narrowed(self) -> int:
        """How often the points were drawn closer."""
        return int(self.counters[NARROWED])

    def _run(self, Q: Array, acting: Array, noise: Array) -> int:
        model = self.model
        done = _run(
            model.arrays, self.z, self._S, self._good, Q, acting, self.guard, noise,
            self.measurement_std, self._table(), model.slope, model.step, model.order,
            self.counters,
        )  # fmt: skip
        return int(done)

    def _table(self) -> Array:
        """(H, 4) h, p, r, w from the widest points to the closest."""
        rows = []
        for h in self.spread * NARROWER:
            weights = self._weights(h) if h > 1.0 else (0.0, 0.0, 0.0)
            if weights is not None:
                rows.append((h, *weights))
        return np.array(rows)


@njit(**KERNEL)
def _run(model, z, S, good, Q, acting, guard, noise, r, table, slope, step, order, counters):  # type: ignore[no-untyped-def]
    """Filter a block; return the number of samples that went well."""
    n = Q.shape[1]
    for k in range(Q.shape[0]):
        # Before there are innovations, one of each joint that is as Q and R expect.
        square = (n + counters[INNOVATION]) / (n + counters[CORRECTIONS])
        c = max(min(np.sqrt(square), 1.0), SMALLEST_SCALE)
        found = False
        for i in range(table.shape[0]):
            f = _advanced(model, z, S, table[i, 0] * c, acting[k], slope, step, order)
            if f.size > 0:
                mean, root = _combined(f, z, S, table[i], c, noise, n)
                found = root.size > 0
            if found:
                break
            if i == 0:
                counters[NARROWED] += 1.0
        if not found:
            return k
        good[:] = z[2 * n :]
        z[: 2 * n] = mean
        S[:] = root
        if not take_sample(model, z, S, good, Q[k], r, guard, counters):
            return k
    return Q.shape[0]


@njit(**KERNEL)
def _advanced(model, z, S, way, torques, slope, step, order):  # type: ignore[no-untyped-def]
    """(2L + 1, L) the points one step later, or nothing where one of them is no robot."""
    size = z.shape[0]
    Z = np.empty((2 * size + 1, size))
    Z[0] = z
    for i in range(size):
        for j in range(size):
            Z[1 + i, j] = z[j] + way * S[j, i]
            Z[1 + size + i, j] = z[j] - way * S[j, i]
    f = np.empty_like(Z)
    if not state_step.advance_many(model, Z, torques, slope, step, order, f):
        return f[:0]
    return f


@njit(**KERNEL)
def _combined(f, z, S, weights, c, noise, n):  # type: ignore[no-untyped-def]
    """
    Return mean (2n,) of dq and q and root (L, L); nothing where there is no root.

    The parameters do not change in a step: their rows of a_i are those of S, of e_i and d zero.

    :param weights: h, p, r, w.
    """
    size, n2 = z.shape[0], 2 * n
    h, p, r, w = weights
    bend = np.empty((n2, size))
    A = np.zeros((size, 2 * size + n2 + 1))
    for i in range(size):
        for j in range(n2):
            plus, minus = f[1 + i, j], f[1 + size + i, j]
            A[j, i] = (plus - minus) / (2.0 * h * c)
            bend[j, i] = plus + minus - 2.0 * f[0, j]
        A[n2:, i] = S[n2:, i]
    mean, aside = f[0, :n2].copy(), np.zeros(size)
    columns = size
    if h > 1.0:
        for j in range(n2):
            aside[j] = -np.sum(bend[j]) / (2.0 * h * h)
            mean[j] -= aside[j]
            bend[j] = (p * bend[j] + r * aside[j]) / c
        reflect(bend, n2, size)
        A[:n2, columns : columns + n2] = bend[:, :n2]
        columns += n2
    aside *= np.sqrt(abs(w)) / c
    if w > 0.0:
        A[:, columns] = aside
        columns += 1
    for j in range(size):
        if noise[j] > 0.0:
            A[j, columns] = noise[j]
            columns += 1
    reflect(A, size, columns)
    root = A[:, :size].copy()
    return mean, without(root, aside) if w < 0.0 else root


@njit(**KERNEL)
def without(S, v):  # type: ignore[no-untyped-def]
    """
    Return the root of S S' - v v'; nothing where that is not positive.

    With S p = v it is S (I - g p p') with g = (1 - sqrt(1 - p'p)) / p'p.
    """
    size = v.shape[0]
    p = v.copy()
    square = 0.0
    for i in range(size):
        for k in range(i):
            p[i] -= S[i, k] * p[k]
        if p[i] != 0.0:
            p[i] /= S[i, i]
        square += p[i] * p[i]
    if not square < 1.0:
        return S[:0]
    g = 1.0 / (1.0 + np.sqrt(1.0 - square))
    root = S.copy()
    for i in range(size):
        for j in range(size):
            root[i, j] -= g * v[i] * p[j]
    reflect(root, size, size)
    return root
