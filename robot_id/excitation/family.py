"""Families of motions that are linear in their coefficients, at rest at both ends."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.linalg

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.excitation import FAMILIES
from robot_id.trajectory.fourier import Fourier
from robot_id.trajectory.quintic import Quintic
from robot_id.trajectory.trajectory import Array, Trajectory


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
