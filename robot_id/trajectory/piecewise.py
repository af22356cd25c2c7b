"""Piecewise polynomials, the basis of trapezoids, quintics, blends and sampled motions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory, as_vector


class PiecewisePolynomial(Trajectory):
    """
    q(t) = sum_d c[k, d] (t - t_k)^d on t_k <= t < t_{k+1}.

    :param breaks: (K + 1,) seconds, from 0, strictly increasing.
    :param coefficients: (K, D + 1, n) ascending powers of the local time.
    :param periodic: whether the motion goes on cycle after cycle (it must close on itself).
    """

    kind = 'piecewise'

    def __init__(self, breaks: ArrayLike, coefficients: ArrayLike, periodic: bool = False) -> None:
        try:
            self.coefficients = np.array(coefficients, dtype=float)
        except (TypeError, ValueError, OverflowError) as error:
            raise TrajectoryError(
                f'{self.kind}: coefficients of unequal length or not numbers'
            ) from error
        if self.coefficients.ndim != 3 or not np.all(np.isfinite(self.coefficients)):
            raise TrajectoryError(
                f'{self.kind}: coefficients must be finite and (pieces, powers, joints), '
                f'got shape {self.coefficients.shape}'
            )
        self.breaks = as_vector(breaks, f'{self.kind}: breaks', len(self.coefficients) + 1)
        if self.breaks[0] != 0.0 or np.any(np.diff(self.breaks) <= 0.0):
            raise TrajectoryError(f'{self.kind}: breaks must increase strictly from 0')
        self.duration = float(self.breaks[-1])
        self.periodic = bool(periodic)
        if self.periodic:
            self._check_closed()

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.coefficients.shape[2]

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        piece = np.searchsorted(self.breaks, t, side='right') - 1
        piece = np.clip(piece, 0, len(self.coefficients) - 1)
        s = (t - self.breaks[piece])[:, None]
        q = np.zeros((len(t), self.n))
        dq = np.zeros_like(q)
        ddq = np.zeros_like(q)
        # Horner's scheme for the value and its first two derivatives.
        for d in range(self.coefficients.shape[1] - 1, -1, -1):
            ddq = ddq * s + dq
            dq = dq * s + q
            q = q * s + self.coefficients[piece, d]
        return q, dq, 2.0 * ddq

    def extremes(self) -> Extremes:
        """Return the exact extremes, from the roots of each piece's derivatives."""
        # Powers of the local time over the piece's length, so that roots lie in [0, 1].
        h = np.diff(self.breaks)[:, None, None]
        powers = np.arange(self.coefficients.shape[1])
        c = np.moveaxis(self.coefficients * h ** powers[None, :, None], 1, 2)
        lower, upper = _range(c)
        first = c[..., 1:] * powers[1:] / h
        second = first[..., 1:] * powers[1:-1] / h
        velocity = np.abs(np.stack(_range(first))).max(axis=(0, 1))
        acceleration = np.abs(np.stack(_range(second))).max(axis=(0, 1))
        return Extremes(lower.min(axis=0), upper.max(axis=0), velocity, acceleration)


def _range(c: Array) -> tuple[Array, Array]:
    """Return lowest and highest value of sum_d c[..., d] s^d over 0 <= s <= 1."""
    shape, size = c.shape[:-1], c.shape[-1]
    flat = c.reshape(-1, max(size, 1)) if size else np.zeros((int(np.prod(shape)), 1))
    lower = np.minimum(flat[:, 0], flat.sum(axis=1))
    upper = np.maximum(flat[:, 0], flat.sum(axis=1))
    slope = flat[:, 1:] * np.arange(1, flat.shape[1])
    biggest = np.abs(slope).max(axis=1, initial=0.0)
    left = biggest > 0.0
    for degree in range(slope.shape[1] - 1, 0, -1):
        rows = np.flatnonzero(left & (np.abs(slope[:, degree]) > 1e-13 * biggest))
        left[rows] = False
        if not rows.size:
            continue
        companion = np.zeros((len(rows), degree, degree))
        companion[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
        companion[:, :, -1] = -slope[rows, :degree] / slope[rows, degree : degree + 1]
        # Points that are no true extremes (complex roots, outside) do no harm once clipped.
        s = np.clip(np.linalg.eigvals(companion).real, 0.0, 1.0)
        values = np.zeros_like(s)
        for d in range(flat.shape[1] - 1, -1, -1):
            values = values * s + flat[rows, d : d + 1]
        lower[rows] = np.minimum(lower[rows], values.min(axis=1))
        upper[rows] = np.maximum(upper[rows], values.max(axis=1))
    return lower.reshape(shape), upper.reshape(shape)
