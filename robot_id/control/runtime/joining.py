"""From where a joint is to a reference that is elsewhere, without a jump."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY

Array = NDArray[np.float64]
# Of the limits of a joint: what the way to a reference may add to the reference's own motion.
SHARE = 0.25
# Of the largest tracking error: nearer than this a joint is there.
THERE = 1e-4


class Joining:
    """
    An offset of the reference that decays: d'' + 2 w d' + w^2 d = 0 in each joint.

    Without it a law of high gains meets a distance with torques at their limits. The pace w is
    that of the loop, or so slow that the largest acceleration, at most w^2 |d| + 2 w |d'|, and the
    largest velocity, w |d| / e from rest, are within a share of the limits.

    :param robot: the Robot.
    :param bandwidth: (n,) of the loop [rad/s].
    :param largest_error: (n,) tracking error.
    """

    def __init__(self, robot: Robot, bandwidth: Array, largest_error: Array) -> None:
        a, v = robot.limits.acceleration, robot.limits.velocity
        self._acceleration = SHARE * np.where(np.isfinite(a), a, USUAL_ACCELERATION)
        self._velocity = SHARE * np.where(np.isfinite(v), v, USUAL_VELOCITY)
        self._fastest, self._there = bandwidth, THERE * largest_error
        self._pace = bandwidth.copy()
        self._away = np.zeros((2, robot.n))
        self.active = False

    def begin(self, away: Array, joints: NDArray[np.bool_]) -> None:
        """
        Begin at a distance from the reference, position and velocity (2, n), in some joints.

        :param joints: (n,) which; the others go on.
        """
        d, v = np.abs(away)
        root = v + np.sqrt(v**2 + self._acceleration * d)
        slow = np.minimum(
            self._acceleration / np.maximum(root, 1e-12),
            math.e * self._velocity / np.maximum(d, 1e-12),
        )
        self._pace[joints] = np.minimum(self._fastest, slow)[joints]
        self._away[:, joints] = away[:, joints]
        self._rest()

    def clear(self) -> None:
        """Be at the reference."""
        self._away[:] = 0.0
        self.active = False

    def point(self, reference: Array) -> Array:
        """Return (3, n) the reference, less the distance that is left."""
        d, v = self._away
        w = self._pace
        return reference - np.array([d, v, -w * (2.0 * v + w * d)])

    def advance(self, elapsed: float) -> None:
        """Go on for some seconds."""
        d, v = self._away
        w = self._pace
        decay, slope = np.exp(-w * elapsed), v + w * d
        self._away = np.array([d + slope * elapsed, v - w * slope * elapsed]) * decay
        self._rest()

    def _rest(self) -> None:
        """End where a joint is there."""
        d, v = np.abs(self._away)
        self._away[:, (d < self._there) & (v < self._pace * self._there)] = 0.0
        self.active = bool(np.any(self._away))
