"""Shared by the laws with a PD on each joint: gains, numbers, memory, sensitivities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.control.gains import joint_gain_slopes, joint_gains
from robot_id.dynamics.simulation.controller import Controller, Feedback, Law
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]


class JointPdSettings(NamedTuple):
    """
    Gains kp, kv and torque limit, (n,) each; averaged: velocity over two intervals.

    The loop is compiled for the type of a law's numbers: each law has its own.
    """

    kp: Array
    kv: Array
    limit: Array
    averaged: bool


class Memory(NamedTuple):
    """
    State kept from one sample to the next.

    :param before: (2, n) the last two measured positions, NaN before the first sample.
    """

    before: Array


@dataclass(frozen=True)
class JointPd(Law):
    """
    A law with the gains kp = wn / (2 zeta) and kv = 2 zeta wn J of each joint.

    :cvar settings: type of its numbers.
    :cvar feeds_velocity: whether the reference velocity is fed forward.
    """

    settings: ClassVar[type[JointPdSettings]]
    feeds_velocity: ClassVar[bool]

    def tune(
        self, robot: Robot, loop: Loop, chi: Array | None, bandwidth_factor: float
    ) -> Controller:
        """Return the controller with gains for the inertia of chi."""
        gains = joint_gains(robot, loop, chi, bandwidth_factor)
        averaged = loop.velocity == 'averaged'
        return Controller(
            self, *gains, loop.rate_hz, robot.limits.torque, averaged_velocity=averaged
        )

    def numbers(self, robot: Robot, controller: Controller) -> JointPdSettings:
        """Return the numbers for the kernel."""
        c = controller
        kp, kv, limit = (np.array(x, float) for x in (c.kp, c.kv, c.torque_limit))
        return self.settings(kp, kv, limit, c.averaged_velocity)

    def memory(self, robot: Robot, controller: Controller) -> Memory:
        """Return the memory before the first sample."""
        return Memory(np.full((2, robot.n), np.nan))

    def feedback(self, controller: Controller) -> Feedback:
        """Return Kp = kp kv and Kv = kv of the torque."""
        return Feedback(
            controller.kp * controller.kv, controller.kv, feeds_velocity=self.feeds_velocity
        )

    def feedback_slopes(
        self, robot: Robot, loop: Loop, chi: Array, bandwidth_factor: float
    ) -> tuple[Array, Array]:
        """(n, b) d Kp/d chi and d Kv/d chi."""
        return joint_gain_slopes(robot, loop, chi, bandwidth_factor)
