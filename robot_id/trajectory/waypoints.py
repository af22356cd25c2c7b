"""The points of a motion for a controller that interpolates between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_id.trajectory.sampled_motion import SampledMotion
from robot_id.trajectory.trajectory import Array, Trajectory

# Hz, tried from the slowest on.
RATES = (10.0, 20.0, 25.0, 50.0, 100.0, 125.0, 200.0, 250.0, 500.0)
# What the interpolation may add: rad or m, and a share of each joint's largest acceleration.
POSITION_ERROR, ACCELERATION_SHARE = 1e-4, 0.05
# Instants between two points at which it is judged.
BETWEEN = 4


@dataclass(frozen=True)
class Waypoints:
    """
    Points of a motion.

    :param time: (N,) seconds from the start of the motion, the first is 0.
    :param points: (N, 3, n) position, velocity and acceleration.
    :param rate_hz: at which they follow each other, but for the last.
    """

    time: Array
    points: Array
    rate_hz: float

    def after(self, seconds: float) -> Waypoints:
        """Return the points that are not before a time; the last one in any case."""
        first = min(int(np.searchsorted(self.time, seconds)), len(self.time) - 1)
        return Waypoints(self.time[first:], self.points[first:], self.rate_hz)


def waypoints(trajectory: Trajectory, rate_hz: float = 0.0) -> Waypoints:
    """
    Return the points of a motion, as few as it needs.

    A controller that takes positions and velocities interpolates by cubics: its position then
    deviates by h^4 / 384 of the fourth derivative, its acceleration by h^2 / 12 of it.

    :param rate_hz: 0 for the slowest of RATES whose cubics keep the motion.
    """
    if rate_hz > 0.0:
        return _at(trajectory, rate_hz)
    peak = np.maximum(trajectory.extremes().acceleration, 1e-9)
    for rate in RATES:
        found = _at(trajectory, rate)
        fine = np.linspace(0.0, trajectory.duration, BETWEEN * len(found.time))
        cubic = SampledMotion(found.time, found.points[:, 0], found.points[:, 1])
        q, _, ddq = trajectory.sample(fine)
        q_c, _, ddq_c = cubic.sample(fine)
        bend = np.sqrt(np.mean((ddq_c - ddq) ** 2, axis=0))
        if np.abs(q_c - q).max() <= POSITION_ERROR and np.all(bend <= ACCELERATION_SHARE * peak):
            break
    return found


def _at(trajectory: Trajectory, rate_hz: float) -> Waypoints:
    count = max(2, int(np.ceil(trajectory.duration * rate_hz - 1e-9)) + 1)
    time = np.minimum(np.arange(count) / rate_hz, trajectory.duration)
    return Waypoints(time, np.stack(trajectory.sample(time), axis=1), rate_hz)
