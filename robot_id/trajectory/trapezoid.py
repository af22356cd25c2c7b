"""Trapezoidal velocities: bang-bang acceleration from stop to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.piecewise import PiecewisePolynomial
from robot_id.trajectory.trajectory import Array, as_matrix, as_vector


class Trapezoid(PiecewisePolynomial):
    """
    Stops at every way point; between them all joints share one trapezoidal velocity profile.

    A move is a straight line in joint space. Without durations it is as fast as the slowest joint
    allows; with a duration T the cruise speed v is lowered (T = D/v + v/a), the acceleration kept.

    :param waypoints: (K + 1, n) positions.
    :param velocity: (n,) highest speed, or one number.
    :param acceleration: (n,) acceleration, or one number.
    :param durations: (K,) seconds of each move without its dwell, or None for the fastest.
    :param dwell: seconds at rest after every move, one number or (K,).
    :param periodic: whether the motion goes on cycle after cycle.
    """

    kind = 'trapezoid'

    def __init__(
        self,
        waypoints: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        durations: ArrayLike | None = None,
        dwell: ArrayLike = 0.0,
        periodic: bool = False,
    ) -> None:
        self.waypoints = as_matrix(waypoints, 'trapezoid: waypoints')
        moves, n = len(self.waypoints) - 1, self.waypoints.shape[1]
        if moves < 1:
            raise TrajectoryError('trapezoid: at least 2 way points are needed')
        self.velocity = as_vector(velocity, 'trapezoid: velocity', n)
        self.acceleration = as_vector(acceleration, 'trapezoid: acceleration', n)
        self.dwell = as_vector(dwell, 'trapezoid: dwell', moves)
        for what, values in (('velocity', self.velocity), ('acceleration', self.acceleration)):
            if np.any(values <= 0.0):
                raise TrajectoryError(f'trapezoid: {what} must be positive, got {values.min():g}')
        if np.any(self.dwell < 0.0):
            raise TrajectoryError(
                f'trapezoid: dwell must not be negative, got {self.dwell.min():g}'
            )
        self.durations = (
            None if durations is None else as_vector(durations, 'trapezoid: durations', moves)
        )
        pieces = [piece for k in range(moves) for piece in self._move(k)]
        if not pieces:
            raise TrajectoryError('trapezoid: all way points are the same and there is no dwell')
        super().__init__(
            np.concatenate(([0.0], np.cumsum([length for length, _ in pieces]))),
            np.array([coefficients for _, coefficients in pieces]),
            periodic,
        )

    def _move(self, k: int) -> list[tuple[float, Array]]:
        """Return (seconds, (3, n) coefficients) of ramp up, cruise, ramp down and dwell."""
        start, end = self.waypoints[k], self.waypoints[k + 1]
        D = end - start
        pieces: list[tuple[float, Array]] = []
        wanted = None if self.durations is None else float(self.durations[k])
        if np.any(D):
            ramp, cruise = self._profile(k, D, wanted)
            # In s: from 0 to 1 with speed v and acceleration v/ramp.
            v = 1.0 / (ramp + cruise)
            a = v / ramp
            for length, s0, v0, a0 in (
                (ramp, 0.0, 0.0, a),
                (cruise, 0.5 * v * ramp, v, 0.0),
                (ramp, 1.0 - 0.5 * v * ramp, v, -a),
            ):
                if length > 0.0:
                    pieces.append((length, np.array([start + s0 * D, v0 * D, 0.5 * a0 * D])))
        elif wanted:
            pieces.append((wanted, np.array([start, 0.0 * D, 0.0 * D])))
        if self.dwell[k] > 1e-9:
            pieces.append((float(self.dwell[k]), np.array([end, 0.0 * D, 0.0 * D])))
        return pieces

    def _profile(self, k: int, D: Array, wanted: float | None) -> tuple[float, float]:
        """Return the seconds of one ramp and of the cruise."""
        moving = np.abs(D) > 0.0
        v = float(np.min(self.velocity[moving] / np.abs(D[moving])))
        a = float(np.min(self.acceleration[moving] / np.abs(D[moving])))
        v = min(v, float(np.sqrt(a)))
        fastest = 1.0 / v + v / a
        if wanted is not None:
            if wanted < fastest * (1.0 - 1e-9):
                raise TrajectoryError(
                    f'trapezoid: move {k + 1} needs {fastest:.4g} s at the given velocity and '
                    f'acceleration, its duration is {wanted:.4g} s'
                )
            wanted = max(wanted, fastest)
            # The smaller root of v^2 - a T v + a = 0, in the form that does not cancel.
            v = 2.0 / (wanted + np.sqrt(max(wanted**2 - 4.0 / a, 0.0)))
        ramp = v / a
        cruise = 1.0 / v - ramp
        return ramp, cruise if cruise > 1e-12 * ramp else 0.0
