"""
Voltage-driven DC motor behind a position loop with a limited duty cycle.

    duty = clip(gain (kp error + ki integral) - kd dq, -duty_limit, duty_limit)
    motor = kt / R (duty supply - kt dq)

Hobby and smart servos (Dynamixel X, Feetech STS). gain is the recorded firmware gain, kp the duty
for one rad of error and a gain of 1, supply the voltage. R is that at 25 degrees Celsius: where
temperatures are recorded, copper makes it grow by 0.39 % per degree.
"""

from __future__ import annotations

from typing import Any

from robot_id.dynamics.simulation.servo.drives.drive import Drive, Number


def torque(
    x: Any, gain: Any, supply: Any, warmth: Any, error: Any, z: Any, v: Any, by: Any
) -> tuple[Any, Any, Any, Any, Any, bool]:
    """Return u, B, their derivatives and whether the limit holds."""
    kp, ki, kd, kt, R, limit = x[0], x[1], x[2], x[3], warmth * x[4], x[5]
    by[:] = 0.0
    a = kt / R * supply
    wanted = gain * (kp * error + ki * z)
    braking = kt * kt / R
    whole = wanted - kd * v
    if abs(whole) > limit:
        side = 1.0 if whole > 0.0 else -1.0
        u = a * side * limit
        by[0, 3], by[0, 4], by[0, 5] = u / kt, -u / x[4], a * side
        by[1, 3], by[1, 4] = 2.0 * kt / R, -braking / x[4]
        return u, braking, 0.0, 0.0, 0.0, True
    u = a * wanted
    B = braking + a * kd
    by[0, 0], by[0, 1], by[0, 3], by[0, 4] = a * gain * error, a * gain * z, u / kt, -u / x[4]
    by[1, 2], by[1, 3], by[1, 4] = a, (2.0 * kt + supply * kd) / R, -B / x[4]
    stiffness = a * gain * kp
    by[2, 0], by[2, 3], by[2, 4] = a * gain, stiffness / kt, -stiffness / x[4]
    return u, B, stiffness, a * gain * ki, 0.0, False


DRIVE = Drive(
    'voltage',
    'voltage-driven DC motor behind a P or PID position loop with a limited duty cycle',
    (
        Number('kp', '1/rad', 'duty for one rad of error at a gain of 1', None, False),
        Number('ki', '1/(rad.s)', 'duty for the integral of the error', 0.0, False, False),
        Number('kd', 's/rad', 'duty for the velocity', 0.0, False, False),
        Number('kt', 'N.m/A', 'torque constant on the joint side', 0.3, True),
        Number('R', 'ohm', 'resistance of motor and bridge at 25 degC', 3.0, True),
        Number('duty_limit', '1', 'largest duty cycle', 1.0, False),
    ),
    torque,
)
