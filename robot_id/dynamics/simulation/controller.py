"""The sampled controller of a robot: its law, its gains and its memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.dynamics.kernels.closed_loop import one_torque
from robot_id.dynamics.kernels.tree import tree_of
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]


class Feedback(NamedTuple):
    """
    A torque that is linear in the errors: Kp (qr - q) + Kv (dqr - dq), or - Kv dq.

    :param position: (n,) Kp; velocity (n,) Kv.
    :param feeds_velocity: whether Kv acts on dqr - dq and not on -dq alone.
    """

    position: Array
    velocity: Array
    feeds_velocity: bool


class Law(ABC):
    """
    A control law, in one file of `control.laws`.

    Beside this class the file has the NamedTuples of the law's numbers and of its memory, and the
    compiled kernel of its torque (see `dynamics.simulation.law`).
    """

    name: ClassVar[str]

    @abstractmethod
    def tune(
        self, robot: Robot, loop: Loop, chi: Array | None, bandwidth_factor: float
    ) -> Controller:
        """Return the controller of a loop, its gains for the parameters chi (see `tune`)."""

    @abstractmethod
    def numbers(self, robot: Robot, controller: Controller) -> Any:
        """Return the NamedTuple of numbers for the kernel."""

    @abstractmethod
    def memory(self, robot: Robot, controller: Controller) -> Any:
        """Return the NamedTuple of arrays kept from sample to sample; it has `before`."""

    def feedback(self, controller: Controller) -> Feedback | None:
        """Return the linear feedback for the sensitivities; None if the law is not linear."""
        return None

    def feedback_slopes(
        self, robot: Robot, loop: Loop, chi: Array, bandwidth_factor: float
    ) -> tuple[Array, Array] | None:
        """(n, b) how Kp and Kv follow the parameters chi that they are tuned for."""
        return None


@dataclass(frozen=True)
class Controller:
    """
    One control loop with its gains.

    :param law: the control law.
    :param kp: (n,) 1/s for the PD laws, 1/s^2 for computed torque.
    :param kv: (n,) N.m.s/rad (N.s/m) for the PD laws, 1/s for computed torque.
    :param rate_hz: the torque is held between samples.
    :param torque_limit: (n,) saturation, infinite for none.
    :param parameters: (b,) model of the computed torque laws.
    :param coulomb_slope: alpha of the friction in that model.
    :param averaged_velocity: backward difference of the two-sample average, not of the position.
    """

    law: Law
    kp: Array
    kv: Array
    rate_hz: float
    torque_limit: Array
    parameters: Array = field(default_factory=lambda: np.empty(0))
    coulomb_slope: float = 1000.0
    averaged_velocity: bool = False


class AtWork(Protocol):
    """
    What the compiled loop needs of a controller.

    :ivar settings: the numbers of the law.
    :ivar memory: state kept from sample to sample; the loop updates it.
    """

    @property
    def settings(self) -> Any: ...

    @property
    def memory(self) -> Any: ...


class RunningController:
    """
    A running controller, sample by sample or in the compiled loop.

    :param robot: the Robot.
    :param controller: its law and gains.
    """

    def __init__(self, robot: Robot, controller: Controller) -> None:
        self.controller = controller
        self.settings = controller.law.numbers(robot, controller)
        self.memory = controller.law.memory(robot, controller)
        self._step = 1.0 / controller.rate_hz
        self._tree = tree_of(robot)
        self._inputs, self._tau = np.zeros((4, robot.n)), np.zeros(robot.n)

    def reset(self, position: ArrayLike, velocity: ArrayLike) -> None:
        """Start from a measured position and velocity, (n,) each."""
        q, dq = np.asarray(position, float), np.asarray(velocity, float)
        self.memory.before[0] = q - self._step * dq
        self.memory.before[1] = q - 2.0 * self._step * dq

    def torque(self, reference: Array, measured: Array) -> Array:
        """
        Return the limited torques (n,).

        :param reference: (3, n) position, velocity and acceleration.
        """
        self._inputs[:3], self._inputs[3] = reference, measured
        one_torque(self._tree, self.settings, self.memory, self._inputs, self._step, self._tau)
        return self._tau.copy()
