"""
The sampled controller of a robot: its law as the compiled loop knows it, its gains, its memory.

A law keeps its numbers in a NamedTuple of its own. The loop is compiled once for each of these
types, with the kernel of that law in it: no branches at run time, and the loop knows no law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numba.extending import overload
from numpy.typing import ArrayLike, NDArray

from robot_id.dynamics.kernels.closed_loop import one_torque
from robot_id.dynamics.kernels.friction import add_drive_torques
from robot_id.dynamics.kernels.models import scratch
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED, motions, newton_euler, poses
from robot_id.dynamics.kernels.tree import tree_of
from robot_id.kernel_cache import njit
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]
Kernel = TypeVar('Kernel', bound=Callable[..., Any])
_kernels: dict[type, Callable[..., Any]] = {}


def torque_kernel(numbers: type) -> Callable[[Kernel], Kernel]:
    """
    Make a compiled function the torque of the laws with these numbers.

    :param numbers: the NamedTuple of the law; numba distinguishes such types by their names, so no
        two laws may share one.
    :return: decorator of kernel(law, tree, memory, work, qr, dqr, ddqr, q, h, tau), which fills
        tau (n,) with the limited torque for the measured position q (n,), h seconds after the
        last one.
    """

    def register(kernel: Kernel) -> Kernel:
        if any(known.__name__ == numbers.__name__ for known in _kernels):
            raise TypeError(
                f"another control law already uses the name '{numbers.__name__}' for its numbers"
            )
        _kernels[numbers] = kernel
        return kernel

    return register


def control_torque(law, tree, memory, work, qr, dqr, ddqr, q, h, tau):  # type: ignore[no-untyped-def]
    """Fill tau (n,) by the law, in compiled code."""
    raise NotImplementedError('for compiled code')


@overload(control_torque)
def _by_type(law, tree, memory, work, qr, dqr, ddqr, q, h, tau):  # type: ignore[no-untyped-def]
    kernel = _kernels[law.instance_class]
    return lambda law, tree, memory, work, qr, dqr, ddqr, q, h, tau: kernel(
        law, tree, memory, work, qr, dqr, ddqr, q, h, tau
    )


@njit(**FAST)
def control_work(nb, n):
    """Return the work arrays of a law: those of the rigid bodies, and (6, n)."""
    return scratch(nb, n), np.empty((6, n))


@njit(**INLINED)
def own_velocity(before, averaged, dqr, q, h, j):
    """
    Return the controller's velocity of joint j, and remember its position.

    A backward difference, or one over the last two intervals; at the very first sample the robot
    counts as moving as its reference.

    :param before: (2, n) the last two measured positions, NaN before the first sample.
    """
    if np.isnan(before[0, j]):
        before[0, j] = q[j] - h * dqr[j]
        before[1, j] = q[j] - 2.0 * h * dqr[j]
    if averaged:
        speed = (q[j] - before[1, j]) / (2.0 * h)
    else:
        speed = (q[j] - before[0, j]) / h
    before[1, j], before[0, j] = before[0, j], q[j]
    return speed


@njit(**INLINED)
def model_torque(tree, inertia, values, q, dq, ddq, slope, work, tau):
    """Fill tau (n,) with the inverse model at one state (the computed torque)."""
    R, p, w, dw, a, force, moment = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    poses(tree, q, R, p)
    motions(tree, R, p, dq, ddq, w, dw, a)
    newton_euler(tree, inertia, R, p, w, dw, a, force, moment, tau)
    add_drive_torques(tree, values, dq, ddq, slope, tau)


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
