"""A simulation: its disturbances, its records, and its step size from friction at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data import Run
from robot_id.dynamics.inverse import bias, inertia_matrix
from robot_id.dynamics.kernels.tree import split_parameters
from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS, ROTOR, Column
from robot_id.robot.friction.functions import smooth_sign, smooth_sign_slope
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]
MOST_SUBSTEPS = 200
_BESIDE = 1e-9


def friction_at_rest(robot: Robot, chi: Array, postures: Array, slope: float) -> Array:
    """
    (n, n) d friction / d dq at rest, on the steeper side; the load is the weight in the postures.

    :param chi: (b,) base parameters.
    :param postures: (K, n).
    :param slope: alpha of the smooth friction.
    """
    values, terms = split_parameters(robot, chi)[1], robot.terms
    weight = np.abs(bias(robot, chi, postures, np.zeros_like(postures), slope)).max(axis=0)
    D = np.zeros((robot.n, robot.n))
    for k in np.flatnonzero(terms.kind != ROTOR):
        term, column = COLUMNS[terms.kind[k] - 1]
        rate = max(_rate(column, x, slope, terms.constant[k]) for x in (-_BESIDE, _BESIDE))
        if term.modulation == 'load':
            rate *= weight[terms.row[k]]
        D[terms.row[k]] += values[terms.parameter[k]] * terms.gain[k] * rate * terms.direction[k]
    return D


def _rate(column: Column, x: float, slope: float, constant: float) -> float:
    by_x, by_s = column.slopes(x, smooth_sign(x, slope), constant)
    return float(by_x + by_s * smooth_sign_slope(x, slope))


@dataclass(frozen=True)
class Disturbances:
    """
    Disturbances of the ideal loop; zeros by default.

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


def stable_substeps(robot: Robot, chi: Array, step: float, slope: float) -> int:
    """
    Return the number of RK4 steps per sample that the friction near zero speed needs.

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
