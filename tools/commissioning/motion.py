"""The slow motion of all joints that a robot begins with."""

from __future__ import annotations

import numpy as np

from commissioning.robots import Prepared
from robot_id.trajectory import Quintic

# Of each joint, forth and back [rad or m]; at a tenth of its speed limit or slower.
STROKE = {True: 0.1, False: 0.6}


def motion_of(prepared: Prepared) -> Quintic:
    """Return a slow motion of all joints from the start, forth and back."""
    robot, start = prepared.robot, np.array(prepared.machine.start)
    room = np.minimum(robot.limits.upper - start, start - robot.limits.lower)
    stroke = np.minimum(STROKE[robot.name == 'emps'], 0.5 * room)
    seconds = float(np.max(1.9 * stroke / (0.15 * robot.limits.velocity)))
    return Quintic([start, start + stroke, start], max(seconds, 1.5), periodic=True)
