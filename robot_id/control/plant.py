"""A simulated robot under computed torque control that can be continued chunk by chunk."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.control.computed_torque import ComputedTorque
from robot_id.control.computed_torque_kernel import DIVERGED, DONE, learning_loop
from robot_id.dynamics.simulation import Disturbances, Simulation, stable_substeps
from robot_id.dynamics.tree import split_parameters, tree_of
from robot_id.exceptions import SimulationError
from robot_id.model import Robot
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]


class SimulatedPlant:
    """
    The true robot: it moves on from chunk to chunk, and its controller may learn in between.

    Two chunks give exactly what one chunk of both would: state, noise, payload changes and the
    memory of the controller go on.

    :param robot: the Robot.
    :param parameters: (b,) true base parameters.
    :param position: (n,) at the start; velocity (n,) likewise, zero when None.
    :param rate_hz: samples per second, those of the controller.
    :param disturbances: noise, encoder steps, external torques, changes of the parameters.
    :param coulomb_slope: of the true friction; None takes the robot file's.
    :param largest_error: rad or m; a larger tracking error is a divergence.
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
        self.position = np.array(position, float)
        self.velocity = np.zeros(robot.n) if velocity is None else np.array(velocity, float)
        self.sample = 0
        self.largest_error = float(largest_error)
        self.disturbances = d = disturbances or Disturbances()
        self.slope = float(
            robot.description.coulomb_slope if coulomb_slope is None else coulomb_slope
        )
        # One generator for each noise, so that the border of a chunk changes nothing.
        self._rng = [np.random.default_rng([d.seed, k]) for k in range(2)]
        sets = [np.asarray(parameters, float), *(np.asarray(p, float) for _, p in d.changes)]
        self._starts = [0, *(round(t / self.step) for t, _ in d.changes)]
        self._sets = [split_parameters(robot, chi) for chi in sets]
        self.substeps = substeps or max(
            stable_substeps(robot, chi, self.step, self.slope) for chi in sets
        )

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self.sample * self.step

    def run(self, controller: ComputedTorque, reference: Reference) -> Simulation:
        """
        Follow the reference of the next N samples.

        :raises SimulationError: with the time and the joint where it diverged.
        """
        N, n = reference.position.shape
        if abs(reference.step - self.step) > 1e-6 * self.step:
            raise SimulationError(
                f'{self.robot.name}: the reference has {reference.rate:.6g} Hz, the plant runs '
                f'at {1.0 / self.step:.6g} Hz'
            )
        d = self.disturbances
        records = tuple(np.empty((N, n)) for _ in range(5))
        inputs = tuple(
            np.ascontiguousarray(x, float)
            for x in (reference.position, reference.velocity, reference.acceleration)
        )
        noise, torque_noise = (
            np.empty((0, n)) if std is None else rng.normal(size=(N, n)) * std
            for std, rng in zip((d.position_std, d.torque_std), self._rng)
        )
        first = 0
        while first < N:
            active = int(np.searchsorted(self._starts, self.sample, side='right')) - 1
            following = [s - self.sample for s in self._starts if s > self.sample]
            last = min([N, *(first + gap for gap in following)])
            self._chunk(controller, self._sets[active], inputs, noise, records, first, last)
            first = last
        torque = records[3] + (torque_noise if len(torque_noise) else 0.0)
        Q, DQ, DDQ, TAU, MEASURED = records
        return Simulation(reference, Q, DQ, DDQ, TAU, MEASURED, torque)

    def _chunk(
        self,
        controller: ComputedTorque,
        truth: tuple[Array, Array],
        inputs: tuple[Array, ...],
        noise: Array,
        records: tuple[Array, ...],
        first: int,
        last: int,
    ) -> None:
        robot, d, n = self.robot, self.disturbances, self.robot.n
        external = np.empty((0, n))
        if d.external is not None:
            external = np.zeros((last - first, n))
            given = d.external[self.sample : self.sample + last - first]
            external[: len(given)] = given
        status, k, joint = learning_loop(
            tree_of(robot), *truth, self.slope, controller.settings, controller.memory,
            *(x[first:last] for x in inputs), self.position, self.velocity, self.step,
            self.substeps, noise[first:last],
            np.zeros(n) if d.encoder_step is None else np.array(d.encoder_step, float),
            external, np.full(n, self.largest_error), *(x[first:last] for x in records),
        )  # fmt: skip
        if status != DONE:
            what = (
                f"joint '{robot.joint_names[joint]}' left its reference by more than "
                f'{self.largest_error:g}'
                if status == DIVERGED
                else 'M(q) is not positive definite'
            )
            at = self.time + k * self.step
            raise SimulationError(f'{robot.name}: simulation failed at {at:.4f} s: {what}')
        self.sample += last - first
