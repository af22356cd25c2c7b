"""The loop of the robot file that a node uses."""

from __future__ import annotations

from robot_id.model import Loop, Robot
from robot_id.model.description import LawName

# A robot that is known by its kinematics alone gets a soft loop.
SOFT_BANDWIDTH, SOFT_RATE_HZ = 20.0, 500.0


def loop_setting(robot: Robot, name: str, law: LawName | None = None) -> Loop:
    """
    Return a loop of the robot file by its name, a soft one when the file has none at all.

    :param law: the law of the soft one.
    """
    if not robot.description.loops:
        return Loop(
            law=law or 'pd',
            bandwidth=(SOFT_BANDWIDTH,) * robot.n,
            damping=(1.0,) * robot.n,
            rate_hz=SOFT_RATE_HZ,
        )
    return robot.loop(name)
