"""Motions made of another one: elsewhere, at another speed, or coming to rest on its path."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory, as_number, as_vector

SHORTEST_STOP_S, LONGEST_STOP_S = 0.4, 20.0
LONGER = 1.2
# Instants at which a stop is judged.
SAMPLES = 200


class _Derived(Trajectory):
    """
    A motion of the same joints as another one.

    :param trajectory: the other one.
    :param duration: its own, in seconds.
    """

    nested = ('trajectory',)

    def __init__(self, trajectory: Trajectory, duration: float, periodic: bool) -> None:
        self.trajectory, self.duration, self.periodic = trajectory, duration, periodic

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.trajectory.n


class Shifted(_Derived):
    """
    q(t) + c of another motion q(t), with its speeds and accelerations.

    :param trajectory: the motion.
    :param offset: (n,) c, rad or m.
    """

    kind = 'shifted'

    def __init__(self, trajectory: Trajectory, offset: ArrayLike) -> None:
        super().__init__(trajectory, trajectory.duration, trajectory.periodic)
        self.offset = as_vector(offset, 'shifted: offset', trajectory.n)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        q, dq, ddq = self.trajectory._evaluate(t)
        return q + self.offset, dq, ddq

    def extremes(self) -> Extremes:
        """Return the extremes of the motion, with its positions shifted."""
        peak = self.trajectory.extremes()
        c = self.offset
        return Extremes(peak.lower + c, peak.upper + c, peak.velocity, peak.acceleration)


class TimeScaled(_Derived):
    """
    q(s t) of another motion q(t): speeds are s times, accelerations s^2 times as large.

    :param trajectory: the motion.
    :param speed: s, above 0.
    """

    kind = 'time_scaled'

    def __init__(self, trajectory: Trajectory, speed: float) -> None:
        self.speed = as_number(speed, 'time_scaled: speed')
        if not 0.0 < self.speed <= 100.0:
            raise TrajectoryError(f'time_scaled: speed {speed:g} must lie between 0 and 100')
        super().__init__(trajectory, trajectory.duration / self.speed, trajectory.periodic)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        # Rounding must not leave the motion at its very end.
        own = (self.speed * t).clip(0.0, self.trajectory.duration)
        q, dq, ddq = self.trajectory._evaluate(own)
        return q, self.speed * dq, self.speed**2 * ddq

    def extremes(self) -> Extremes:
        """Return the extremes of the motion, with speed and acceleration scaled."""
        peak = self.trajectory.extremes()
        s = self.speed
        return Extremes(peak.lower, peak.upper, s * peak.velocity, s**2 * peak.acceleration)


class SlowDown(_Derived):
    """
    The clock of a motion slows down until it stands: rate r = 1 - 3 u^2 + 2 u^3, u = t / T.

    With s = start + T (u - u^3 + u^4 / 2) the state is q(s), r dq(s), r^2 ddq(s) + r' dq(s): the
    path is that of the motion, so what was free of collisions stays so.

    :param trajectory: a motion that ends at rest.
    :param start: seconds into it where the stop begins.
    :param seconds: T.
    """

    kind = 'slow_down'

    def __init__(self, trajectory: Trajectory, start: float, seconds: float) -> None:
        self.start = as_number(start, 'slow_down: start')
        self.seconds = as_number(seconds, 'slow_down: seconds')
        if not self.seconds > 0.0:
            raise TrajectoryError(f'slow_down: a stop takes time, got {seconds} s')
        super().__init__(trajectory, self.seconds, False)

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
