"""The closed-loop simulator: a robot with its sampled controller follows a reference."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data import Run
from robot_id.dynamics.controller import Controller
from robot_id.dynamics.inverse import inertia_matrix
from robot_id.dynamics.loop_kernel import DIVERGED, DONE, closed_loop
from robot_id.dynamics.rest import friction_at_rest
from robot_id.dynamics.tree import split_parameters, tree_of
from robot_id.exceptions import SimulationError
from robot_id.model import Robot
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]
MOST_SUBSTEPS = 200


@dataclass(frozen=True)
class Disturbances:
    """
    What the world adds to the ideal loop; zeros by default.

    :param encoder_step: (n,) quantisation of the measured position.
    :param position_std: (n,) white noise on the measured position (the controller sees it).
    :param torque_std: (n,) white noise on the recorded torque.
    :param external: (N, n) torques that act on the joints.
    :param changes: (time, parameters) pairs: from that time on the robot has these parameters.
    :param seed: of the noise.
    """

    encoder_step: Array | None = None
    position_std: Array | None = None
    torque_std: Array | None = None
    external: Array | None = None
    changes: tuple[tuple[float, Array], ...] = ()
    seed: int = 0

    @classmethod
    def of_robot(cls, robot: Robot, seed: int = 0) -> Disturbances:
        """Return the noise of the robot file."""
        noise = robot.description.noise
        step, position, torque = (
            None if values is None else np.array(values)
            for values in (noise.encoder_step, noise.position_std, noise.torque_std)
        )
        return cls(step, position, torque, seed=seed)


@dataclass(frozen=True)
class Simulation:
    """
    Records of a closed-loop run, N samples at the rate of the controller, (N, n) each.

    position, velocity, acceleration are exact; torque is what the controller commanded, and
    together they satisfy the inverse model. measured_* is what a logger would see.
    """

    reference: Reference
    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    measured_position: Array
    measured_torque: Array

    @property
    def time(self) -> Array:
        """(N,) seconds."""
        return self.reference.time

    def tracking_error(self) -> Array:
        """(n,) ||qr - q|| / ||q - mean(q)|| of each joint (table II of paper 003)."""
        spread = np.linalg.norm(self.position - self.position.mean(axis=0), axis=0)
        error = np.linalg.norm(self.reference.position - self.position, axis=0)
        return error / np.where(spread > 0, spread, np.inf)

    def to_run(self, every: int = 1) -> Run:
        """Return what a logger would record, one sample in `every`."""
        reference = self.reference

        def kept(x: Array) -> Array:
            return np.ascontiguousarray(x[::every])

        return Run(
            kept(reference.time),
            kept(self.measured_position),
            kept(self.measured_torque),
            reference_position=kept(reference.position),
            reference_velocity=kept(reference.velocity),
            reference_acceleration=kept(reference.acceleration),
        )


def simulate(
    robot: Robot,
    chi: Array,
    reference: Reference,
    controller: Controller,
    *,
    coulomb_slope: float | None = None,
    substeps: int | None = None,
    disturbances: Disturbances | None = None,
    initial: tuple[Array, Array] | None = None,
    largest_error: float = np.pi,
) -> Simulation:
    """
    Let the robot with base parameters chi follow the reference.

    :param coulomb_slope: of the plant; None takes the robot file's.
    :param substeps: RK4 steps per sample; None derives them from the stiffness of the friction.
    :param initial: (q, dq) at the start; None starts on the reference.
    :param largest_error: rad or m; a larger tracking error is a divergence.
    :raises SimulationError: with the time and the joint where it diverged, or where M(q) was lost.
    """
    step = 1.0 / controller.rate_hz
    if abs(reference.step - step) > 1e-6 * step:
        raise SimulationError(
            f'{robot.name}: the reference has {reference.rate:.6g} Hz, the controller '
            f'{controller.rate_hz:.6g} Hz: sample the trajectory at the rate of the controller'
        )
    d = disturbances or Disturbances()
    slope = robot.description.coulomb_slope if coulomb_slope is None else coulomb_slope
    N, n = reference.position.shape
    sets = [np.asarray(chi, float), *(np.asarray(p, float) for _, p in d.changes)]
    split = [split_parameters(robot, p) for p in sets]
    switches = np.array([0, *(round(t / step) for t, _ in d.changes)], np.int64)
    substeps = substeps or max(stable_substeps(robot, p, step, slope) for p in sets)
    rng = np.random.default_rng(d.seed)
    none = np.empty((0, n))
    noise = none if d.position_std is None else rng.normal(size=(N, n)) * d.position_std
    torque_noise = 0.0 if d.torque_std is None else rng.normal(size=(N, n)) * d.torque_std
    model = split_parameters(robot, controller.parameters) if controller.law >= 2 else split[0]
    q0, dq0 = initial or (reference.position[0], reference.velocity[0])
    Q, DQ, DDQ, TAU, MEASURED = (np.empty((N, n)) for _ in range(5))
    status, k, joint = closed_loop(
        tree_of(robot),
        np.array([s[0] for s in split]), np.array([s[1] for s in split]), switches, float(slope),
        int(controller.law), _vector(controller.kp), _vector(controller.kv),
        _vector(controller.torque_limit), controller.averaged_velocity,
        model[0], model[1], float(controller.coulomb_slope),
        _rows(reference.position), _rows(reference.velocity), _rows(reference.acceleration),
        _vector(q0), _vector(dq0), step, int(substeps),
        noise, np.zeros(n) if d.encoder_step is None else _vector(d.encoder_step),
        none if d.external is None else _rows(d.external), np.full(n, float(largest_error)),
        Q, DQ, DDQ, TAU, MEASURED,
    )  # fmt: skip
    if status != DONE:
        what = (
            f"joint '{robot.joint_names[joint]}' left its reference by more than {largest_error:g}"
            if status == DIVERGED
            else 'M(q) is not positive definite'
        )
        raise SimulationError(f'{robot.name}: simulation failed at {k * step:.4f} s: {what}')
    return Simulation(reference, Q, DQ, DDQ, TAU, MEASURED, TAU + torque_noise)


def simulate_many(
    robot: Robot,
    parameters: Sequence[Array],
    reference: Reference,
    controllers: Sequence[Controller],
    workers: int = 2,
    **options: object,
) -> list[Simulation | SimulationError]:
    """Simulate many parameter vectors side by side; a failed one gives its error in its place."""

    def one(pair: tuple[Array, Controller]) -> Simulation | SimulationError:
        try:
            return simulate(robot, pair[0], reference, pair[1], **options)  # type: ignore[arg-type]
        except SimulationError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, zip(parameters, controllers)))


def stable_substeps(robot: Robot, chi: Array, step: float, slope: float) -> int:
    """
    Return the number of RK4 steps per sample that the friction near zero speed asks for.

    The fastest rate is the largest eigenvalue of M(q)^-1 D, D = d friction / d dq at rest; RK4 is
    stable up to 2.8 over that rate, we stay at 1.4.
    """
    postures = sample_configurations(robot)[:16]
    M, D = inertia_matrix(robot, chi, postures), friction_at_rest(robot, chi, postures, slope)
    try:
        fastest = np.abs(np.linalg.eigvals(np.linalg.solve(M, D[None]))).max()
    except np.linalg.LinAlgError:
        return 1
    return int(np.clip(np.ceil(step * fastest / 1.4), 1, MOST_SUBSTEPS))


def sample_configurations(robot: Robot, count: int = 200) -> Array:
    """(count, n) fixed configurations within the limits, the posture zero first."""
    lower = np.maximum(robot.limits.lower, -np.pi)
    upper = np.minimum(robot.limits.upper, np.pi)
    q = np.random.default_rng(0).uniform(lower, upper, (count, robot.n))
    q[0] = 0.0
    return q


def _vector(x: Array) -> Array:
    return np.ascontiguousarray(x, dtype=float)


def _rows(x: Array) -> Array:
    return np.ascontiguousarray(x, dtype=float)
