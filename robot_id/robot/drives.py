"""
Motor side and joint side: gears, also coupled, and drive gains.

motor speeds = G * joint speeds and joint torques = G^T * motor torques, so that both sides have
the same power; joint torque = drive gain * control signal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError
from robot_id.robot.files.description import Joint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Drives:
    """
    The drives of n joints; all arrays are (..., n).

    :param gear: (n, n) the matrix G.
    :param gain: (n,) joint torque over control signal.
    """

    gear: Array
    gain: Array

    @classmethod
    def of(cls, joints: tuple[Joint, ...], coupling: Array | None) -> Drives:
        """Return the drives of a robot file: the coupling where it is given, else gear ratios."""
        gear = np.diag([joint.gear_ratio for joint in joints]) if coupling is None else coupling
        if np.linalg.matrix_rank(gear) < len(joints):
            raise DescriptionError(
                'coupling: the matrix is singular, some joint motion turns no motor',
                code='singular_coupling',
            )
        return cls(gear, np.array([joint.drive_gain for joint in joints]))

    def motor_motion(self, joint_motion: Array) -> Array:
        """Return motor positions, speeds or accelerations of those of the joints."""
        return np.asarray(joint_motion, float) @ self.gear.T

    def joint_motion(self, motor_motion: Array) -> Array:
        """Return joint positions, speeds or accelerations of those of the motors."""
        return _solve(self.gear, motor_motion)

    def joint_torque(self, motor_torque: Array) -> Array:
        """Return the joint torques of motor torques."""
        return np.asarray(motor_torque, float) @ self.gear

    def motor_torque(self, joint_torque: Array) -> Array:
        """Return the motor torques that give these joint torques."""
        return _solve(self.gear.T, joint_torque)


def _solve(matrix: Array, rows: Array) -> Array:
    """Return x (..., n) with matrix @ x = row for every row."""
    rows = np.asarray(rows, float)
    flat = rows.reshape(-1, matrix.shape[0])
    return np.asarray(np.linalg.solve(matrix, flat.T).T).reshape(rows.shape)
