"""A simulated robot, moved on sample by sample by torques from outside or by its own loop."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.dynamics.controller import Controller
from robot_id.dynamics.direct import scratch
from robot_id.dynamics.kernels import FAST
from robot_id.dynamics.loop_kernel import control_torque, plant_step
from robot_id.dynamics.simulation import Disturbances, stable_substeps
from robot_id.dynamics.tree import split_parameters, tree_of
from robot_id.exceptions import SimulationError
from robot_id.model import Robot

Array = NDArray[np.float64]


@numba.njit(**FAST)
def _measure(q, noise, encoder_step, measured):
    """Fill measured (n,) with the noisy, quantised position; as in the compiled loops."""
    for j in range(q.shape[0]):
        x = q[j] + noise[j]
        if encoder_step[j] > 0.0:
            x = np.round(x / encoder_step[j]) * encoder_step[j]
        measured[j] = x


@numba.njit(**FAST)
def _advance(tree, inertia, values, q, dq, tau, slope, h, substeps, first):
    n = q.shape[0]
    work, stage = scratch(tree.parent.shape[0], n), np.empty((5, n))
    return plant_step(tree, inertia, values, q, dq, tau, slope, h, substeps, work, stage, first)


@numba.njit(**FAST)
def _own_torque(
    tree, law, kp, kv, limit, averaged, inertia, values, slope, reference, x, before, h, tau
):
    n = x.shape[0]
    work, command, speed = scratch(tree.parent.shape[0], n), np.empty((3, n)), np.empty(n)
    for j in range(n):
        if averaged:
            speed[j] = (x[j] - before[1, j]) / (2.0 * h)
        else:
            speed[j] = (x[j] - before[0, j]) / h
        before[1, j], before[0, j] = before[0, j], x[j]
    control_torque(
        tree, law, kp, kv, inertia, values, slope, reference[0], reference[1], reference[2],
        x, speed, limit, work, command, tau,
    )  # fmt: skip


class SampledPlant:
    """
    The true robot between two samples: torques are held, the motion is integrated by RK4.

    The same compiled steps and the same streams of noise as in `control.SimulatedPlant` and
    `dynamics.simulate`, so a loop that is closed around it from outside gives the same samples.

    :param robot: the Robot.
    :param parameters: (b,) true base parameters.
    :param position: (n,) at the start; velocity (n,) likewise, zero when None.
    :param rate_hz: samples per second.
    :param disturbances: noise and encoder steps.
    """

    def __init__(
        self,
        robot: Robot,
        parameters: ArrayLike,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        *,
        rate_hz: float,
        disturbances: Disturbances | None = None,
    ) -> None:
        self.robot = robot
        self.step = 1.0 / float(rate_hz)
        self.disturbances = d = disturbances or Disturbances()
        n = robot.n
        self._tree = tree_of(robot)
        self._slope = float(robot.description.coulomb_slope)
        self._encoder = np.zeros(n) if d.encoder_step is None else np.array(d.encoder_step, float)
        self.set_parameters(parameters)
        self.reset(position, velocity)

    def reset(self, position: ArrayLike, velocity: ArrayLike | None = None) -> None:
        """Put the robot into a state; samples and noise begin anew."""
        n = self.robot.n
        self.position = np.array(position, float)
        self.velocity = np.zeros(n) if velocity is None else np.array(velocity, float)
        if self.position.shape != (n,) or self.velocity.shape != (n,):
            raise SimulationError(f'{self.robot.name}: a state of {n} joints is needed')
        if not np.all(np.isfinite([self.position, self.velocity])):
            raise SimulationError(f'{self.robot.name}: a state that is not finite')
        self.acceleration = np.zeros(n)
        self.sample = 0
        self._rng = [np.random.default_rng([self.disturbances.seed, k]) for k in range(2)]
        self._measured = np.empty(n)
        self._measure()

    def set_parameters(self, parameters: ArrayLike) -> None:
        """Change the robot, such as by a payload; its state goes on."""
        chi = np.asarray(parameters, float)
        split = split_parameters(self.robot, chi)
        self.substeps = stable_substeps(self.robot, chi, self.step, self._slope)
        self.parameters, self._split = chi, split

    @property
    def measured(self) -> Array:
        """(n,) what the encoders show at this sample."""
        return self._measured.copy()

    def advance(self, torque: Array) -> None:
        """
        Hold torques (n,) until the next sample.

        :raises SimulationError: where M(q) is not positive definite or the motion leaves all
            numbers; the state is then the last good one.
        """
        q, dq = self.position.copy(), self.velocity.copy()
        good = _advance(
            self._tree, *self._split, q, dq, torque, self._slope, self.step, self.substeps,
            self.acceleration,
        )  # fmt: skip
        if not good or not np.isfinite(q.sum() + dq.sum()):
            what = 'the motion diverged' if good else 'M(q) is not positive definite'
            at = self.sample * self.step
            raise SimulationError(f'{self.robot.name}: simulation failed at {at:.4f} s: {what}')
        self.position, self.velocity = q, dq
        self.sample += 1
        self._measure()

    def torque_noise(self) -> Array:
        """(n,) the next noise on the recorded torque."""
        std = self.disturbances.torque_std
        n = self.robot.n
        return np.zeros(n) if std is None else self._rng[1].normal(size=n) * std

    def _measure(self) -> None:
        std, n = self.disturbances.position_std, self.robot.n
        noise = np.zeros(n) if std is None else self._rng[0].normal(size=n) * std
        _measure(self.position, noise, self._encoder, self._measured)


class OwnLoop:
    """
    The robot's own sampled controller, one sample at a time.

    :param robot: the Robot.
    :param controller: its law and gains.
    """

    def __init__(self, robot: Robot, controller: Controller) -> None:
        self.controller = controller
        self._tree, n = tree_of(robot), robot.n
        law = int(controller.law)
        chi = controller.parameters if law >= 2 else np.zeros(len(robot.base))
        self._gains = (law, *(np.array(x, float) for x in (
            controller.kp, controller.kv, controller.torque_limit,
        )), bool(controller.averaged_velocity))  # fmt: skip
        self._model = (*split_parameters(robot, chi), float(controller.coulomb_slope))
        self._before = np.zeros((2, n))
        self._tau = np.zeros(n)

    def reset(self, position: Array, velocity: Array) -> None:
        """Start from a measured position and velocity, (n,) each."""
        h = 1.0 / self.controller.rate_hz
        self._before[0], self._before[1] = position - h * velocity, position - 2.0 * h * velocity

    def torque(self, reference: Array, measured: Array) -> Array:
        """
        Return the limited torques (n,).

        :param reference: (3, n) position, velocity and acceleration.
        """
        _own_torque(
            self._tree, *self._gains, *self._model, reference, measured, self._before,
            1.0 / self.controller.rate_hz, self._tau,
        )  # fmt: skip
        return self._tau.copy()
