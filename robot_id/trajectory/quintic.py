"""Fifth-order polynomials from point to point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.piecewise import PiecewisePolynomial
from robot_id.trajectory.trajectory import Array, as_matrix, as_vector


class Quintic(PiecewisePolynomial):
    """
    Passes through way points with given velocities and accelerations (zero where not given).

    Position, velocity and acceleration are continuous. Without velocities and accelerations each
    way point is a stop, and a move of length D in T seconds peaks at 15/8 D/T and
    10/sqrt(3) D/T^2.

    :param waypoints: (K + 1, n) positions.
    :param durations: (K,) seconds of each move, or one number for all.
    :param velocities: (K + 1, n) at the way points, or None.
    :param accelerations: (K + 1, n) at the way points, or None.
    :param periodic: whether the motion goes on cycle after cycle.
    """

    kind = 'quintic'

    def __init__(
        self,
        waypoints: ArrayLike,
        durations: ArrayLike,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        periodic: bool = False,
    ) -> None:
        self.waypoints = as_matrix(waypoints, 'quintic: waypoints')
        n = self.waypoints.shape[1]
        moves = len(self.waypoints) - 1
        if moves < 1:
            raise TrajectoryError('quintic: at least 2 way points are needed')
        self.durations = as_vector(durations, 'quintic: durations', moves)
        if np.any(self.durations <= 0.0):
            raise TrajectoryError(
                f'quintic: durations must be positive, got {self.durations.min():g} s'
            )
        self.velocities = self._derivatives(velocities, 'velocities', n)
        self.accelerations = self._derivatives(accelerations, 'accelerations', n)
        super().__init__(
            np.concatenate(([0.0], np.cumsum(self.durations))),
            hermite(self.durations, self.waypoints, self.velocities, self.accelerations),
            periodic,
        )

    def _derivatives(self, values: ArrayLike | None, what: str, n: int) -> Array:
        if values is None:
            return np.zeros_like(self.waypoints)
        matrix = as_matrix(values, f'quintic: {what}', n)
        if matrix.shape != self.waypoints.shape:
            raise TrajectoryError(
                f'quintic: {len(matrix)} rows of {what} for {len(self.waypoints)} way points'
            )
        return matrix

    def to_spec(self) -> dict[str, Any]:
        """Return the arguments of the constructor; velocities and accelerations of zero go."""
        spec = super().to_spec()
        for key in ('velocities', 'accelerations'):
            if not np.any(spec[key]):
                del spec[key]
        return spec


def hermite(durations: Array, q: Array, dq: Array, ddq: Array) -> Array:
    """
    Return (K, 6, n) coefficients of the quintics that meet q, dq, ddq at both ends of each piece.

    :param durations: (K,) seconds.
    :param q: (K + 1, n), and dq, ddq alike.
    """
    T = durations[:, None]
    # Work in s = t/T, where the conditions at s = 1 are one fixed 3 x 3 system.
    v, a = dq[:-1] * T, ddq[:-1] * T**2
    D = q[1:] - q[:-1] - v - 0.5 * a
    V = dq[1:] * T - v - a
    A = ddq[1:] * T**2 - a
    c3 = 10.0 * D - 4.0 * V + 0.5 * A
    c4 = -15.0 * D + 7.0 * V - A
    c5 = 6.0 * D - 3.0 * V + 0.5 * A
    return np.stack([q[:-1], dq[:-1], 0.5 * ddq[:-1], c3 / T**3, c4 / T**4, c5 / T**5], axis=1)
