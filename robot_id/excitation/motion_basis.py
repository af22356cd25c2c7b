"""
Positions, velocities and accelerations of a family's motions from their coefficients, and back.

A Fourier series on a grid over its period is the same read backwards, but for the signs of its
sines (and of its velocities): half of the grid gives both halves. That halves the products and the
memory they read, which is most of what the limits of a motion cost. A basis without this symmetry
is taken as it is.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.excitation.kernels import ANY_ORDER
from robot_id.trajectory.trajectory import Array

Flags = NDArray[np.bool_]
# Relative size below which a column counts as mirrored.
_ROUNDING = 1e-9


class MotionBasis:
    """
    B, dB, ddB (N, P) each, of samples at equal steps over one period.

    :param basis: the three.
    """

    def __init__(self, basis: tuple[Array, Array, Array]) -> None:
        whole = np.stack([B.T for B in basis])  # (3, P, N)
        self.samples = whole.shape[2]
        even = _even(whole)
        self._folded = even is not None
        half = self.samples // 2 + 1 if self._folded else self.samples
        groups = [np.ones(whole.shape[1], bool)] if even is None else [even, ~even]
        self._groups = [np.flatnonzero(own) for own in groups]
        # (P_g, 3 H): a product with (n, P_g) has all of a joint in one row.
        self._parts = [
            np.ascontiguousarray(whole[:, own, :half].transpose(1, 0, 2)).reshape(len(own), -1)
            for own in self._groups
        ]

    def motion(self, X: Array) -> Array:
        """Return (n, 3, N) the motion of coefficients X (P, n)."""
        n = X.shape[1]
        parts = [X[own].T @ A for own, A in zip(self._groups, self._parts)]
        if not self._folded:
            return np.asarray(parts[0].reshape(n, 3, -1))
        out = np.empty((n, 3, self.samples))
        unfold(parts[0].reshape(n, 3, -1), parts[1].reshape(n, 3, -1), out)
        return out

    def pull_back(self, slopes: Array) -> Array:
        """Return (P, n) the slopes of a function in X from those in the motion, (n, 3, N)."""
        n = len(slopes)
        parts = [slopes.reshape(n, -1)]
        if self._folded:
            both = np.empty((2, n, 3, self._parts[0].shape[1] // 3))
            fold(slopes, both[0], both[1])
            parts = list(both.reshape(2, n, -1))
        out = np.empty((sum(map(len, self._groups)), n))
        for own, A, part in zip(self._groups, self._parts, parts):
            out[own] = A @ part.T
        return out


def _even(whole: Array) -> Flags | None:
    """
    Return (P,) columns that are the same read backwards, None unless all others are opposite.

    :param whole: (3, P, N) basis; of its velocities the sign changes.
    """
    signs = np.array([1.0, -1.0, 1.0])[:, None, None]
    back = signs * np.roll(whole[:, :, ::-1], 1, axis=2)
    size = _ROUNDING * np.abs(whole).max(axis=2, keepdims=True)
    even, odd = (np.all(np.abs(whole - s * back) <= size, axis=(0, 2)) for s in (1.0, -1.0))
    return even if np.all(even | odd) else None


@numba.njit(**ANY_ORDER)
def unfold(even, odd, out):
    """Fill out (n, 3, N) from its even and odd parts on the first half of the grid."""
    n, _, N = out.shape
    H = even.shape[2]
    for j in range(n):
        for i in range(3):
            sign = -1.0 if i == 1 else 1.0
            for k in range(H):
                out[j, i, k] = even[j, i, k] + odd[j, i, k]
            for k in range(1, N - H + 1):
                out[j, i, N - k] = sign * (even[j, i, k] - odd[j, i, k])


@numba.njit(**ANY_ORDER)
def fold(slopes, even, odd):
    """Fill the slopes in the even and odd parts on the first half of the grid, see `unfold`."""
    n, _, N = slopes.shape
    H = even.shape[2]
    for j in range(n):
        for i in range(3):
            sign = -1.0 if i == 1 else 1.0
            for k in range(H):
                even[j, i, k] = odd[j, i, k] = slopes[j, i, k]
            for k in range(1, N - H + 1):
                back = sign * slopes[j, i, N - k]
                even[j, i, k] += back
                odd[j, i, k] -= back


_WORK = np.ones((1, 3, 2))
KERNELS['unfold'] = Kernel(unfold, lambda robot, chi, x: unfold(_WORK, _WORK, _WORK.copy()))
KERNELS['fold'] = Kernel(fold, lambda robot, chi, x: fold(_WORK, _WORK.copy(), _WORK.copy()))
