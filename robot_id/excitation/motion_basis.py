"""
Families of motions that are linear in their coefficients, at rest at both ends, as matrices.

A Fourier series on a grid over its period is the same read backwards, but for the signs of its
sines (and of its velocities): half of the grid gives both halves. That halves the products and the
memory they read, which is most of what the limits of a motion cost. A basis without this symmetry
is taken as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.exceptions import OptionError, did_you_mean
from robot_id.excitation import FAMILIES
from robot_id.excitation.weighted_rows import ANY_ORDER
from robot_id.kernel_cache import njit
from robot_id.trajectory.fourier import Fourier
from robot_id.trajectory.quintic import Quintic
from robot_id.trajectory.trajectory import Array, Trajectory

Flags = NDArray[np.bool_]
# Relative size below which a column counts as mirrored.
_ROUNDING = 1e-9


class Family(ABC):
    """
    q(t) = middle + B(t) X, with B (N, P) and X (P, n); row 0 of X is the start posture.

    Every member starts and ends with no velocity and acceleration. The basis is itself a
    trajectory, of P columns.
    """

    basis: Trajectory

    @property
    def size(self) -> int:
        """Number P of coefficients per joint."""
        return self.basis.n

    @abstractmethod
    def member(self, X: Array, middle: Array) -> Trajectory:
        """Return the motion with coefficients X (P, n) about the middle (n,)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Return random coefficients (P, n), before they are scaled into the limits."""


class FourierFamily(Family):
    """
    Fourier series of H harmonics; the amplitudes keep velocity and acceleration zero at the ends.

    It ends where it starts, so it can be cycled.

    :param duration: period, seconds.
    :param harmonics: H, at least 2.
    """

    def __init__(self, duration: float, harmonics: int) -> None:
        if harmonics < 2:
            raise OptionError(f'rest at both ends needs at least 2 harmonics, got {harmonics}')
        k = np.arange(1.0, harmonics + 1.0)
        self.sine = scipy.linalg.null_space(k[None, :])
        self.cosine = scipy.linalg.null_space(k[None, :] ** 2)
        free, P = harmonics - 1, 2 * harmonics - 1
        sine, cosine = np.zeros((P, harmonics)), np.zeros((P, harmonics))
        sine[1 : 1 + free] = self.sine.T
        cosine[1 + free :] = self.cosine.T
        # So that row 0 is the posture at t = 0, each cosine column is shifted to start at zero.
        self.basis = Fourier(duration, np.eye(P)[0] - cosine.sum(axis=1), sine, cosine)

    def member(self, X: Array, middle: Array) -> Fourier:
        """Return the series with these coefficients."""
        basis = self.basis
        assert isinstance(basis, Fourier)
        return Fourier(
            basis.duration,
            middle + X.T @ basis.offset,
            X.T @ basis.sine,
            X.T @ basis.cosine,
        )

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Return normal amplitudes of equal size for all harmonics."""
        return rng.normal(size=(self.size, n))


class QuinticFamily(Family):
    """
    Fifth-order polynomials through way points, free in position, velocity and acceleration there.

    The end posture is free too: a motion that need not come back may move half as fast, which
    separates viscous friction from inertia.

    :param duration: of the whole motion, seconds.
    :param moves: number K of polynomials of equal length.
    """

    def __init__(self, duration: float, moves: int) -> None:
        if moves < 2:
            raise OptionError(f'a quintic motion needs at least 2 moves, got {moves}')
        P, step = 2 + 3 * (moves - 1), duration / moves
        q, dq, ddq = (np.zeros((moves + 1, P)) for _ in range(3))
        q[:, 0] = 1.0
        for k in range(1, moves):
            q[k, 3 * k - 2] = 1.0
            dq[k, 3 * k - 1] = 2.0 / step
            ddq[k, 3 * k] = 10.0 / step**2
        q[-1, -1] = 1.0
        self.points = (q, dq, ddq)
        self.basis = Quintic(q, step, dq, ddq)

    def member(self, X: Array, middle: Array) -> Quintic:
        """Return the polynomials with these coefficients."""
        q, dq, ddq = (points @ X for points in self.points)
        basis = self.basis
        assert isinstance(basis, Quintic)
        return Quintic(middle + q, basis.durations, dq, ddq)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Return normal way points, velocities and accelerations."""
        return rng.normal(size=(self.size, n))


def make_family(kind: str, duration: float, order: int | None = None) -> Family:
    """
    Return a family by its name.

    :param kind: 'fourier' or 'quintic'.
    :param order: harmonics or moves; None picks one that suits the duration.
    """
    if not (np.isfinite(duration) and duration > 0.0):
        raise OptionError(f'the motion must last longer than 0 s, got {duration} s')
    if kind == 'fourier':
        return FourierFamily(duration, order or int(np.clip(round(3.0 * duration), 4, 40)))
    if kind == 'quintic':
        return QuinticFamily(duration, order or int(np.clip(round(duration), 4, 20)))
    raise OptionError(f"no kind of motion '{kind}': {did_you_mean(kind, FAMILIES)}")


class MotionBasis:
    """
    B, dB, ddB (N, P) each, of samples at equal steps over one period.

    :param basis: the three.
    """

    def __init__(self, basis: tuple[Array, Array, Array]) -> None:
        whole = np.stack([B.T for B in basis])  # (3, P, N)
        self.samples = whole.shape[2]
        even = _even(whole)
        half = self.samples if even is None else self.samples // 2 + 1
        every = np.ones(whole.shape[1], bool)
        # The columns of an even part and of an odd one, or all of them and none.
        self._even, self._odd = (
            np.flatnonzero(own) for own in ((every, ~every) if even is None else (even, ~even))
        )
        # (P_g, 3 H): a product with (n, P_g) has all of a joint in one row.
        self._parts = tuple(
            np.ascontiguousarray(whole[:, own, :half].transpose(1, 0, 2)).reshape(
                len(own), 3 * half
            )
            for own in (self._even, self._odd)
        )

    def motion(self, X: Array) -> Array:
        """Return (n, 3, N) the motion of coefficients X (P, n)."""
        out = np.empty((X.shape[1], 3, self.samples))
        unfold(X, self._even, self._odd, *self._parts, out)
        return out

    def pull_back(self, slopes: Array) -> Array:
        """Return (P, n) the slopes of a function in X from those in the motion, (n, 3, N)."""
        out = np.empty((len(self._even) + len(self._odd), len(slopes)))
        fold(slopes, self._even, self._odd, *self._parts, out)
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


@njit(**ANY_ORDER)
def product(X, own, part):
    """Return (n, 3 H) the motion of the coefficients X (P, n) of some columns."""
    mine = np.empty((X.shape[1], len(own)))
    for j in range(X.shape[1]):
        for k in range(len(own)):
            mine[j, k] = X[own[k], j]
    return np.dot(mine, part)


@njit(**ANY_ORDER)
def unfold(X, even, odd, even_part, odd_part, out):
    """
    Fill the motion out (n, 3, N) of X (P, n) from its values on the first half of the grid.

    :param even: columns that are the same read backwards; odd those with the other sign.
    :param even_part: (P_even, 3 H) their basis on the first H samples; odd_part likewise.
    """
    n, _, N = out.shape
    H = even_part.shape[1] // 3
    same = product(X, even, even_part).reshape(n, 3, H)
    if len(odd) == 0 and H == N:
        out[:] = same
        return
    other = product(X, odd, odd_part).reshape(n, 3, H)
    for j in range(n):
        for i in range(3):
            sign = -1.0 if i == 1 else 1.0
            for k in range(H):
                out[j, i, k] = same[j, i, k] + other[j, i, k]
            for k in range(1, N - H + 1):
                out[j, i, N - k] = sign * (same[j, i, k] - other[j, i, k])


@njit(**ANY_ORDER)
def fold(slopes, even, odd, even_part, odd_part, out):
    """Fill out (P, n), the slopes in X, from those in the motion, see `unfold`."""
    n, _, N = slopes.shape
    H = even_part.shape[1] // 3
    for own, part, mirrored in ((even, even_part, 1.0), (odd, odd_part, -1.0)):
        both = np.empty((n, 3, H))
        for j in range(n):
            for i in range(3):
                sign = -mirrored if i == 1 else mirrored
                both[j, i] = slopes[j, i, :H]
                for k in range(1, N - H + 1):
                    both[j, i, k] += sign * slopes[j, i, N - k]
        found = np.dot(both.reshape(n, 3 * H), part.T)
        for k in range(len(own)):
            for j in range(n):
                out[own[k], j] = found[j, k]


_NONE = np.zeros(1, np.intp)
_BASIS = np.ones((1, 6))


def _both(robot, chi, x):
    out = np.empty((1, 3, 2))
    unfold(np.ones((1, 1)), _NONE, _NONE, _BASIS, _BASIS, out)
    fold(out, _NONE, _NONE, _BASIS, _BASIS, np.empty((1, 1)))


KERNELS['unfold'] = Kernel(unfold, _both)
KERNELS['fold'] = Kernel(fold, _both)
