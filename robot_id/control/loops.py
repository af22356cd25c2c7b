"""The loop of the robot file that a node uses."""

from __future__ import annotations

from robot_id.model import Loop, Robot

# A robot that is known by its kinematics alone gets a soft loop.
SOFT_BANDWIDTH, SOFT_RATE_HZ = 20.0, 500.0


def loop_setting(robot: Robot, name: str) -> Loop:
    """
    Return a loop of the robot file by its name, a soft one when the file has none at all.

    It is one of computed torque: gains for each joint alone swing where links without rotors turn
    each other.
    """
    if not robot.description.loops:
        return Loop(
            law='computed_torque',
            bandwidth=(SOFT_BANDWIDTH,) * robot.n,
            damping=(1.0,) * robot.n,
            rate_hz=SOFT_RATE_HZ,
        )
    return robot.loop(name)
