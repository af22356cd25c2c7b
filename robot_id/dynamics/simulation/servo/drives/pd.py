"""
Torque-controlled PD: motor = clip(kp (command - position) - kd dq, -limit, limit).

Legs and arms with known gains (N.m/rad, N.m.s/rad), MuJoCo's position actuators, and drives whose
stiffness is to be found. A recorded gain multiplies kp and kd.
"""

from __future__ import annotations

from typing import Any

from robot_id.dynamics.simulation.servo.drives.drive import Drive, Number


def torque(
    x: Any, gain: Any, supply: Any, warmth: Any, error: Any, z: Any, v: Any, by: Any
) -> tuple[Any, Any, Any, Any, Any, bool]:
    """Return u, B, their derivatives and whether the limit holds."""
    kp, ki, kd, limit = gain * x[0], gain * x[1], gain * x[2], x[3]
    wanted = kp * error + ki * z
    by[:] = 0.0
    whole = wanted - kd * v
    if abs(whole) > limit:
        side = 1.0 if whole > 0.0 else -1.0
        by[0, 3] = side
        return side * limit, 0.0, 0.0, 0.0, 0.0, True
    by[0, 0], by[0, 1], by[1, 2] = gain * error, gain * z, gain
    by[2, 0] = gain
    return wanted, kd, kp, ki, 0.0, False


DRIVE = Drive(
    'pd',
    'torque-controlled PD, kp and kd in N.m/rad and N.m.s/rad',
    (
        Number('kp', 'N.m/rad', 'stiffness of the position loop', None, False),
        Number('ki', 'N.m/(rad.s)', 'integral gain', 0.0, False, positive=False),
        Number('kd', 'N.m.s/rad', 'damping of the position loop', 0.0, False, positive=False),
        Number('limit', 'N.m', 'largest torque', float('inf'), False),
    ),
    torque,
)
