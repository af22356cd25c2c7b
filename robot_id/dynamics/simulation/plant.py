"""The simulated robot: it measures, and it moves on under torques or under a controller."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.closed_loop import (
    DIVERGED,
    DONE,
    Body,
    Motion,
    Records,
    World,
    advance,
    closed_loop,
    measure,
)
from robot_id.dynamics.kernels.tree import split_parameters, tree_of
from robot_id.dynamics.simulation.controller import AtWork
from robot_id.dynamics.simulation.disturbances import Disturbances, Simulation, stable_substeps
from robot_id.exceptions import SimulationError
from robot_id.robot import Robot
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]


class Plant:
    """
    The true robot between two samples: torques are held, the motion is integrated by RK4.

    `run` follows a reference under a controller, as many samples as it has; `advance` goes to the
    next sample under given torques. A motion may be cut into several calls: state, noise and
    changes of the robot continue, and the samples are the same. Noise of the position at sample k
    is row k of `default_rng([seed, 0])`, that of the recorded torque row k of `default_rng([seed,
    1])`; where the steps of the encoders lie is drawn from `default_rng([seed, 2])`.

    :param robot: the Robot.
    :param parameters: (b,) true base parameters.
    :param position: (n,) at the start; velocity (n,) likewise, zero when None.
    :param rate_hz: samples per second, those of the controller.
    :param disturbances: noise, encoder steps, external torques, changes of the parameters.
    :param coulomb_slope: of the true friction; None takes the robot file's.
    :param substeps: RK4 steps per sample; None derives them from the stiffness of the friction.
    :param largest_error: rad or m; in `run` a larger tracking error is a divergence.
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
        coulomb_slope: float | None = None,
        substeps: int | None = None,
        largest_error: float = np.pi,
    ) -> None:
        self.robot = robot
        self.step = 1.0 / float(rate_hz)
        self.largest_error = float(largest_error)
        self.disturbances = d = disturbances or Disturbances()
        self._tree = tree_of(robot)
        slope = robot.description.coulomb_slope if coulomb_slope is None else coulomb_slope
        self.slope = float(slope)
        self._encoder = np.zeros((2, robot.n))
        if d.encoder_step is not None:
            # Where the steps of an encoder lie is chance: each seed has its own. What it shows is
            # right to half a step (a grid that moved its zero along would be tracked along).
            phase = np.random.default_rng([d.seed, 2]).uniform(-0.5, 0.5, robot.n)
            self._encoder[:] = _floats(d.encoder_step), phase * _floats(d.encoder_step)
        self._starts = [round(t / self.step) for t, _ in d.changes]
        self._fixed_substeps = substeps
        self.set_parameters(parameters)
        self.reset(position, velocity)

    def reset(self, position: ArrayLike, velocity: ArrayLike | None = None) -> None:
        """Put the robot into a state; samples and noise restart."""
        n = self.robot.n
        self.position = np.array(position, float)
        self.velocity = np.zeros(n) if velocity is None else np.array(velocity, float)
        if self.position.shape != (n,) or self.velocity.shape != (n,):
            raise SimulationError(
                f'{self.robot.name}: a state of {n} joints is needed', code='joint_count'
            )
        if not np.all(np.isfinite([self.position, self.velocity])):
            raise SimulationError(f'{self.robot.name}: the state is not finite', code='not_finite')
        self.acceleration = np.zeros(n)
        self.sample = 0
        self._rng = [np.random.default_rng([self.disturbances.seed, k]) for k in range(2)]
        # Noise of the present sample, once it was measured.
        self._seen: Array | None = None

    def set_parameters(self, parameters: ArrayLike) -> None:
        """Change the robot, such as by a payload; its state goes on."""
        chi = np.asarray(parameters, float)
        sets = [chi, *(np.asarray(p, float) for _, p in self.disturbances.changes)]
        bodies = [split_parameters(self.robot, each) for each in sets]
        self.substeps = self._fixed_substeps or max(
            stable_substeps(self.robot, each, self.step, self.slope) for each in sets
        )
        self.parameters = chi
        code = code_for(self.robot, 'direct_dynamics', self.slope)
        address = 0 if code is None else code.address
        self._bodies = [
            Body(
                *body, self.slope, self._encoder, self.step, int(self.substeps),
                np.array(each, float), address,
            )
            for each, body in zip(sets, bodies)
        ]  # fmt: skip

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self.sample * self.step

    @property
    def measured(self) -> Array:
        """(n,) what the encoders show at this sample."""
        if self._seen is None:
            self._seen = self._noise(0, 1)
        x = np.empty(self.robot.n)
        measure(self.position, self._seen, 0, self._encoder, x)
        return x

    def advance(self, torque: ArrayLike) -> Array:
        """
        Hold torques (n,) until the next sample; return them as they are recorded, with noise.

        :raises SimulationError: where M(q) is not positive definite or the motion overflows; the
            state is then the last good one.
        """
        if self._seen is None:
            self._seen = self._noise(0, 1)
        q, dq, torque = self.position.copy(), self.velocity.copy(), np.array(torque, float)
        external = self._external(1)
        total = torque + external[0] if len(external) else torque
        good = advance(self._tree, self._body(), q, dq, total, self.acceleration)
        if not good or not np.isfinite(q.sum() + dq.sum()):
            self._fail(self.sample, 'the motion diverged' if good else _NOT_POSITIVE)
        self.position, self.velocity, self._seen = q, dq, None
        self.sample += 1
        noise = self._noise(1, 1)
        return torque + noise[0] if len(noise) else torque

    def run(self, controller: AtWork, reference: Reference) -> Simulation:
        """
        Follow the reference of the next N samples.

        :param controller: the numbers and the memory of a law; the memory is moved on.
        :raises SimulationError: with the time and the joint where it diverged, or where M(q) was
            lost.
        """
        if abs(reference.step - self.step) > 1e-6 * self.step:
            raise SimulationError(
                f'{self.robot.name}: the reference has {reference.rate:.6g} Hz, the controller '
                f'{1.0 / self.step:.6g} Hz: sample the trajectory at the rate of the controller',
                code='wrong_rate',
            )
        N, n = reference.position.shape
        motion = Motion(*(_floats(x) for x in (
            reference.position, reference.velocity, reference.acceleration
        )))  # fmt: skip
        records = Records(*(np.empty((N, n)) for _ in range(5)))
        noise = self._noise(0, N if self._seen is None else N - 1)
        if self._seen is not None:
            noise, self._seen = np.concatenate([self._seen, noise]), None
        torque_noise = self._noise(1, N)
        first = 0
        while first < N:
            following = [start - self.sample for start in self._starts if start > self.sample]
            last = min([N, *(first + gap for gap in following)])
            part = slice(first, last)
            world = World(noise[part], self._external(last - first), self.largest_error)
            status, k, joint = closed_loop(
                self._tree, self._body(), controller.settings, controller.memory,
                Motion(*(x[part] for x in motion)), world, self.position, self.velocity,
                Records(*(x[part] for x in records)),
            )  # fmt: skip
            if status != DONE:
                name = self.robot.joint_names[joint]
                if status != DIVERGED:
                    self._fail(self.sample + k, _NOT_POSITIVE)
                left = f"joint '{name}' left its reference by more than {self.largest_error:g}"
                self._fail(self.sample + k, left, name, self.largest_error)
            self.sample += last - first
            first = last
        recorded = records.torque + torque_noise if len(torque_noise) else records.torque.copy()
        Q, DQ, DDQ, TAU, MEASURED = records
        return Simulation(reference, Q, DQ, DDQ, TAU, MEASURED, recorded)

    def _body(self) -> Body:
        """Return the robot as it is at this sample."""
        return self._bodies[int(np.searchsorted(self._starts, self.sample, side='right'))]

    def _noise(self, stream: int, count: int) -> Array:
        """Return the next (count, n) noise of position (0) or torque (1), (0, n) for none."""
        std = (self.disturbances.position_std, self.disturbances.torque_std)[stream]
        n = self.robot.n
        if std is None:
            return np.empty((0, n))
        return self._rng[stream].normal(size=(count, n)) * std

    def _external(self, count: int) -> Array:
        """Return the (count, n) external torques from this sample on, (0, n) for none."""
        given, n = self.disturbances.external, self.robot.n
        if given is None:
            return np.empty((0, n))
        torques = np.zeros((count, n))
        known = np.asarray(given, float)[self.sample : self.sample + count]
        torques[: len(known)] = known
        return torques

    def _fail(
        self, sample: int, what: str, joint: str | None = None, bound: float | None = None
    ) -> NoReturn:
        at = sample * self.step
        raise SimulationError(
            f'{self.robot.name}: simulation failed at {at:.4f} s: {what}',
            joint=joint,
            bound=bound,
            code='diverged',
        )


_NOT_POSITIVE = 'M(q) is not positive definite'


def _floats(x: ArrayLike) -> Array:
    """Return an array that the kernels take: float64, C-ordered, writable."""
    return np.require(x, float, ['C', 'W'])
