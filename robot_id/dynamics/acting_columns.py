"""Which parameters act on which joint: a wrist joint of a six-axis arm feels a few of them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.regressor import regressor
from robot_id.robot import Robot

Indices = NDArray[np.intp]
# Random states that tell a structural zero from one by chance.
STATES = 64
_known: WeakKeyDictionary[Robot, tuple[Indices, ...]] = WeakKeyDictionary()


def acting_columns(robot: Robot) -> tuple[Indices, ...]:
    """
    Return for each joint the base parameters that act on it in some of many random states.

    A structural zero of the regressor is zero, or rounding, in all of them.
    """
    if robot not in _known:
        _known[robot] = _acting(robot)
    return _known[robot]


def _acting(robot: Robot) -> tuple[Indices, ...]:
    rng = np.random.default_rng(0)
    robot = robot.at_temperature(robot.description.reference_temperature + 10.0)
    q, dq, ddq = (rng.uniform(-3.0, 3.0, (STATES, robot.n)) for _ in range(3))
    # Slow ones too: Stribeck friction vanishes at high speed.
    dq *= 10.0 ** rng.uniform(-4.0, 0.0, dq.shape)
    W = np.abs(regressor(robot, q, dq, ddq)).max(axis=0)
    largest = W.max(axis=0)
    return tuple(np.flatnonzero(row > 1e-12 * largest) for row in W)
