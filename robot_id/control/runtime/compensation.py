"""Torques that a robot adds to its commands by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.inverse import body_torques, inverse_dynamics
from robot_id.dynamics.kernels.tree import split_parameters
from robot_id.robot import Robot

Array = NDArray[np.float64]


class Compensation:
    """
    The part of the model that must not be sent: G(q), F(dq) or both.

    A robot that carries itself moves by M ddq + C dq + G + F = tau + G: with a model that was
    identified with gravity, tau is its torque without G. The parameters stay those of the arm, so
    one robot file and one result serve identification and control.

    :param robot: the Robot.
    :param terms: 'gravity', 'friction'.
    """

    def __init__(self, robot: Robot, terms: Sequence[str]) -> None:
        self._robot = robot
        self._gravity, self._friction = 'gravity' in terms, 'friction' in terms
        self._rest = np.zeros((1, robot.n))
        # Compiled before the robot moves.
        self(np.zeros(len(robot.base)), self._rest[0], self._rest[0])

    def __call__(self, chi: Array, position: Array, velocity: Array) -> Array | float:
        """
        Return (n,) what the robot adds, 0 where it adds nothing.

        :param chi: (b,) the model.
        :param position: (n,) measured.
        :param velocity: (n,) of the reference: a measured one at rest changes its sign.
        """
        if not (self._gravity or self._friction):
            return 0.0
        robot, rest = self._robot, self._rest
        q, dq = position[None], velocity[None]
        inertia, _ = split_parameters(robot, chi)
        found = np.zeros(robot.n)
        if self._gravity:
            found += body_torques(robot, inertia, q, rest, rest)[0]
        if self._friction:
            slope = robot.description.coulomb_slope
            whole = inverse_dynamics(robot, chi, q, dq, rest, coulomb_slope=slope)
            found += whole[0] - body_torques(robot, inertia, q, dq, rest)[0]
        return found
