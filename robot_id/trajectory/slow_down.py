"""A motion that comes to rest along its own path, from any of its points."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory

SHORTEST_STOP_S, LONGEST_STOP_S = 0.4, 20.0
LONGER = 1.2
# Instants at which a stop is judged.
SAMPLES = 200


class SlowDown(Trajectory):
    """
    The clock of a motion slows down until it stands: rate r = 1 - 3 u^2 + 2 u^3, u = t / T.

    With s = start + T (u - u^3 + u^4 / 2) the state is q(s), r dq(s), r^2 ddq(s) + r' dq(s): the
    path is that of the motion, so what was free of collisions stays so.

    :param trajectory: a motion that ends at rest.
    :param start: seconds into it where the stop begins.
    :param seconds: T.
    """

    kind = 'slow_down'
    nested = ('trajectory',)

    def __init__(self, trajectory: Trajectory, start: float, seconds: float) -> None:
        if not seconds > 0.0:
            raise TrajectoryError(f'slow_down: a stop takes time, got {seconds} s')
        self.trajectory, self.start = trajectory, float(start)
        self.seconds = self.duration = float(seconds)
        self.periodic = False

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.trajectory.n

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        T = self.seconds
        u = t / T
        rate = (1.0 - 3.0 * u**2 + 2.0 * u**3)[:, None]
        change = ((-6.0 * u + 6.0 * u**2) / T)[:, None]
        q, dq, ddq = self.trajectory.sample(self.start + T * (u - u**3 + 0.5 * u**4))
        return q, rate * dq, rate**2 * ddq + change * dq

    def extremes(self) -> Extremes:
        """Return the extremes at many instants."""
        q, dq, ddq = self._evaluate(np.linspace(0.0, self.duration, SAMPLES))
        return Extremes(q.min(0), q.max(0), np.abs(dq).max(0), np.abs(ddq).max(0))

    def to_spec(self) -> dict[str, Any]:
        """Return the motion and the stop as plain data."""
        spec = self.trajectory.to_spec()
        return {
            'kind': self.kind, 'trajectory': spec, 'start': self.start, 'seconds': self.seconds,
        }  # fmt: skip

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> SlowDown:
        """Build the motion from its plain data, the other motion built already."""
        return cls(spec['trajectory'], spec['start'], spec['seconds'])


def slow_down(trajectory: Trajectory, start: float, acceleration: Array) -> SlowDown:
    """
    Return the shortest stop within acceleration limits.

    Where the motion itself is beyond them, the stop is no harder than the motion.

    :param start: seconds into the motion.
    :param acceleration: (n,) limits, infinite where none is known.
    """
    own = trajectory.extremes().acceleration
    bound = np.maximum(acceleration, own) * (1.0 + 1e-9)
    T = SHORTEST_STOP_S
    while T < LONGEST_STOP_S:
        stop = SlowDown(trajectory, start, T)
        if np.all(stop.extremes().acceleration <= bound):
            return stop
        T *= LONGER
    return SlowDown(trajectory, start, T)
