"""Limits of the joints as arrays: of the robot file, else of the URDF, else infinite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.robot.files.description import Joint

Array = NDArray[np.float64]
# s to full speed of a joint without an acceleration limit. The data sheets of UR, Franka, Kinova
# and xArm give 0.15 to 0.27 s; torque limits are no bound, as a URDF has no rotor inertias.
FULL_SPEED_S = 0.25


@dataclass(frozen=True)
class Limits:
    """
    Limits of the n joints, (n,) each, infinite where none is given.

    :param lower: rad or m.
    :param upper: rad or m.
    :param velocity: rad/s or m/s.
    :param acceleration: rad/s^2 or m/s^2.
    :param torque: N.m or N.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array

    @property
    def usual_acceleration(self) -> Array:
        """(n,) acceleration limits; where none is given, full speed within FULL_SPEED_S."""
        given = np.isfinite(self.acceleration)
        return np.where(given, self.acceleration, self.velocity / FULL_SPEED_S)

    @classmethod
    def of(cls, joints: tuple[Joint, ...], urdf: Array) -> Limits:
        """
        Return the limits of the joints.

        :param urdf: (n, 4) lower, upper, velocity, effort of the URDF, NaN where not given.
        """
        unlimited = np.array([-np.inf, np.inf, np.inf, np.inf])
        lower, upper, velocity, torque = np.where(np.isnan(urdf), unlimited, urdf).T.copy()
        acceleration = np.full(len(joints), np.inf)
        for j, own in enumerate(joint.limits for joint in joints):
            if own.position is not None:
                lower[j], upper[j] = own.position
            velocity[j] = own.velocity or velocity[j]
            acceleration[j] = own.acceleration or acceleration[j]
            torque[j] = own.torque or torque[j]
        return cls(lower, upper, velocity, acceleration, torque)
