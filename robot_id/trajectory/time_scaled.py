"""A motion at another speed along the same path."""

from __future__ import annotations

from typing import Any

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory


class TimeScaled(Trajectory):
    """
    q(s t) of another motion q(t): speeds are s times, accelerations s^2 times as large.

    :param trajectory: the motion.
    :param speed: s, above 0.
    """

    kind = 'time_scaled'
    nested = ('trajectory',)

    def __init__(self, trajectory: Trajectory, speed: float) -> None:
        if not 0.0 < speed <= 100.0:
            raise TrajectoryError(f'time_scaled: speed {speed:g} must lie between 0 and 100')
        self.trajectory, self.speed = trajectory, float(speed)
        self.duration = trajectory.duration / self.speed
        self.periodic = trajectory.periodic

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.trajectory.n

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

    def to_spec(self) -> dict[str, Any]:
        """Return the motion and the speed as plain data."""
        spec = self.trajectory.to_spec()
        return {'kind': self.kind, 'trajectory': spec, 'speed': self.speed}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> TimeScaled:
        """Build the motion from its plain data, the other motion built already."""
        trajectory, speed = spec['trajectory'], spec['speed']
        if not isinstance(trajectory, Trajectory):
            raise TrajectoryError("time_scaled: 'trajectory' must be a trajectory")
        if not isinstance(speed, int | float):
            raise TrajectoryError(f'time_scaled: speed {speed!r} is not a number')
        return cls(trajectory, speed)
