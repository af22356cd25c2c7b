"""What a drive does along recorded positions: its torques without a simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.dynamics.simulation.servo.loop import (
    DELAY,
    FIRST_DRIVE,
    Inputs,
    command_at,
    drive_torque,
)
from robot_id.kernel_cache import njit

Array = NDArray[np.float64]


def recorded_torque(
    drive: int, numbers: Array, inputs: Inputs, position: Array, velocity: Array
) -> Array:
    """
    Return (N, n) torques of the motors, u - B dq of the drive.

    :param drive: number of the drive in the registry.
    :param numbers: (n, K) of each joint.
    :param position: (N, n) of the encoders; velocity (N, n).
    """
    torque = np.empty_like(position)
    _fill(drive, numbers, inputs, position, velocity, torque)
    return torque


@njit(**FAST)
def _fill(drive, numbers, inputs, position, velocity, torque):  # type: ignore[no-untyped-def]
    N, n = position.shape
    by = np.zeros((3, numbers.shape[1] - FIRST_DRIVE))
    for j in range(n):
        x = numbers[j]
        z = 0.0
        for k in range(N):
            torque[k, j] = 0.0
            if inputs.enabled[k, j] <= 0.5:
                continue
            wish, _ = command_at(inputs, k, 0, x[DELAY], j)
            error = wish - position[k, j]
            u, B, _, _, _, holds = drive_torque(
                drive, x[FIRST_DRIVE:], inputs.gain[k, j], inputs.supply[k, j],
                inputs.warmth[k, j], error, z, velocity[k, j], by,
            )  # fmt: skip
            torque[k, j] = u - B * velocity[k, j]
            if not holds:
                z += inputs.step * error
