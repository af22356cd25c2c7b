"""
Current-controlled motor behind a position loop with a limited current.

    current = clip(gain (kp error + ki integral) - kd dq, -current_limit, current_limit)
    motor = kt current

Smart servos in current-based position mode, and drives that command currents.
"""

from __future__ import annotations

from typing import Any

from robot_id.dynamics.simulation.servo.drives.drive import Drive, Number


def torque(
    x: Any, gain: Any, supply: Any, warmth: Any, error: Any, z: Any, v: Any, by: Any
) -> tuple[Any, Any, Any, Any, Any, bool]:
    """Return u, B, their derivatives and whether the limit holds."""
    kp, ki, kd, kt, limit = x[0], x[1], x[2], x[3], x[4]
    by[:] = 0.0
    wanted = gain * (kp * error + ki * z)
    whole = wanted - kd * v
    if abs(whole) > limit:
        side = 1.0 if whole > 0.0 else -1.0
        by[0, 3], by[0, 4] = side * limit, kt * side
        return kt * side * limit, 0.0, 0.0, 0.0, 0.0, True
    by[0, 0], by[0, 1], by[0, 3] = kt * gain * error, kt * gain * z, wanted
    by[1, 2], by[1, 3] = kt, kd
    by[2, 0], by[2, 3] = kt * gain, gain * kp
    return kt * wanted, kt * kd, kt * gain * kp, kt * gain * ki, 0.0, False


DRIVE = Drive(
    'current',
    'current-controlled motor behind a P or PID position loop with a limited current',
    (
        Number('kp', 'A/rad', 'current for one rad of error at a gain of 1', None, False),
        Number('ki', 'A/(rad.s)', 'current for the integral of the error', 0.0, False, False),
        Number('kd', 'A.s/rad', 'current for the velocity', 0.0, False, False),
        Number('kt', 'N.m/A', 'torque constant on the joint side', 0.3, True),
        Number('current_limit', 'A', 'largest current', float('inf'), False),
    ),
    torque,
)
