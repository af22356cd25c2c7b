"""The criterion as a function of a motion's coefficients, with its gradient."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from robot_id import dynamics
from robot_id.exceptions import TrajectoryError
from robot_id.excitation.averaged_friction import AveragedFriction
from robot_id.excitation.clearance import Clearance
from robot_id.excitation.criteria import CRITERIA, criterion_of
from robot_id.excitation.feasible import Gauge, torque_penalty
from robot_id.excitation.motion_basis import Family
from robot_id.excitation.recorded import Recorded
from robot_id.excitation.weighted_rows import WeightedRows
from robot_id.robot import Robot
from robot_id.trajectory.limits import MotionLimits
from robot_id.trajectory.trajectory import Array, Trajectory

_PENALTY = 30.0
_SHARPEST = 400.0
_POSTURES = 80
_FINER = 3
_CALLS = 1000  # of the regressor in a search, about


@dataclass(frozen=True)
class Figures:
    """
    How exciting a motion is.

    :param of_criterion: the figure of every criterion by its name, smaller is better.
    :param torque_share: largest predicted torque over its limit; NaN where none can be predicted.
    """

    of_criterion: dict[str, float]
    torque_share: float

    def __getitem__(self, criterion: str) -> float:
        return self.of_criterion[criterion]


class Objective:
    """
    Value and gradient of the criterion on a decimated regressor.

    The slopes in the states of all samples come from one sweep back through the regressor, the
    basis gives the rest (chain rule), so a gradient costs about as much as a value. Coulomb
    friction is sign(dq) averaged between samples, see `averaged_friction`; the figures have
    sign(dq) itself.

    :param criterion: a key of CRITERIA.
    :param parameter_weights: (b,) chi_bar.
    :param joint_weights: (n,) weights of the joints' rows, 1/sigma_j of paper 004.
    :param expected: (b,) parameters for the torque limits, or None.
    :param samples: number of samples in the decimated regressor.
    :param columns: (b, p) combinations of the parameters that the motion is for; None for all.
        Then `parameter_weights` is (p,).
    :param known: recordings whose rows stand beside those of every motion.
    """

    def __init__(
        self,
        robot: Robot,
        family: Family,
        limits: MotionLimits,
        criterion: str,
        parameter_weights: Array,
        joint_weights: Array,
        expected: Array | None = None,
        clearance: Clearance | None = None,
        samples: int = 150,
        columns: Array | None = None,
        known: Recorded | None = None,
    ) -> None:
        self.robot, self.family, self.limits = robot, family, limits
        self.criterion = criterion_of(criterion)
        self.parameter_weights = parameter_weights
        self.acting = dynamics.ActingRows(robot, _CALLS)
        weights = np.ones_like(parameter_weights)
        if self.criterion.weighted:
            weights = parameter_weights
        self.rows = WeightedRows(self.acting, joint_weights, weights, columns)
        if known is not None:
            self.rows.add_known(known.states, known.steps, family.basis.duration)
        self.expected = expected
        self.clearance = clearance
        self.samples = samples
        duration = family.basis.duration
        # Peaks between the samples count too, on a grid that holds them.
        fine = _FINER * samples
        self.gauge = Gauge(family.basis.sample(np.arange(fine) * (duration / fine)), limits)
        self.friction = AveragedFriction(self.acting, duration / samples, limits.velocity)

    def __call__(self, x: Array, power: float, gauge: float) -> tuple[float, Array]:
        """
        Return the smooth criterion (a logarithm) and its gradient.

        :param x: (P n,) coefficients before they are scaled into the limits.
        :param power: of the smooth condition number; larger is sharper.
        :param gauge: power of the norm of the limits; larger comes nearer to them.
        """
        X0 = x.reshape(self.family.size, self.robot.n)
        scaled = self.gauge.scale(X0, gauge)
        states = scaled.states(self.limits.middle, self.samples)
        rows = self.acting(states)
        signs = self.friction.replace(states[1], states[2], rows)
        value, slope = self._criterion(rows, power)
        penalty = self._torque_penalty(rows, slope)
        slopes = self.acting.slopes(states, slope)
        self.friction.add_slopes(signs, slope, slopes[1], slopes[2])
        if self.clearance is not None:
            every = -(-self.samples // _POSTURES)
            near, away = self.clearance.penalty(states[0, :, ::every].T)
            penalty += near
            slopes[0, :, ::every] += away.T
        return value + penalty, scaled.pull_back(slopes).ravel()

    def _criterion(self, rows: Array, power: float) -> tuple[float, Array]:
        """Return the value and its slope in the acting entries (A, N)."""
        try:
            value, inward = self.criterion.of_factor(self.rows.factor(rows), power)
        except np.linalg.LinAlgError as error:
            raise TrajectoryError(
                f'{self.robot.name}: a motion gives numbers that are too large: check the '
                'lengths and limits in the robot file'
            ) from error
        return value, self.rows.pull_back(rows, inward)

    def _torque_penalty(self, rows: Array, slope: Array) -> float:
        """Return the penalty on torques beyond their limits; its slope is added (A, N)."""
        if self.expected is None:
            return 0.0
        chi, scale = self.acting.parameters(self.expected), _PENALTY / rows.shape[1] * 100.0
        return torque_penalty(rows, chi, self.acting.ends, self.limits.torque, scale, slope)

    def for_thread(self) -> Objective:
        """Return the same objective with separate work space."""
        twin = copy.copy(self)
        twin.clearance = None if self.clearance is None else self.clearance.copy()
        return twin

    def within_limits(self, X0: Array) -> Array:
        """Return coefficients (P, n) whose motion keeps the limits at every instant."""
        X = self.gauge.scale(X0, _SHARPEST).X
        share = self.limits.usage(self.family.member(X, self.limits.middle))
        return X / np.maximum(share, 1.0)

    def feasible(self, X: Array, samples: int) -> bool:
        """Return whether predicted torques and clearance allow the motion, at equal steps."""
        trajectory = self.family.member(X, self.limits.middle)
        q, dq, ddq = trajectory.sampled_evenly(samples)
        if self.expected is not None:
            tau = dynamics.inverse_dynamics(self.robot, self.expected, q, dq, ddq)
            if np.any(np.abs(tau) > self.limits.torque):
                return False
        return self.clearance is None or self.clearance.keeps(q)

    def shrink(self, X: Array, samples: int, steps: int = 8) -> Array | None:
        """
        Return the motion made smaller about its start posture until it is feasible.

        None where even the start posture is not.
        """
        if self.feasible(X, samples):
            return X
        small, large = 0.0, 1.0
        motion = np.ones((len(X), 1))
        for _ in range(steps):
            middle = 0.5 * (small + large)
            motion[1:] = middle
            small, large = (
                (middle, large) if self.feasible(X * motion, samples) else (small, middle)
            )
        motion[1:] = small
        return X * motion if small > 0.0 else None

    def figures(self, trajectory: Trajectory, refine: int = 1) -> Figures:
        """
        Return the exact figures of a motion, with sign(dq).

        :param refine: how many times more samples than the search uses.
        """
        N = self.samples * refine
        states = np.stack([part.T for part in trajectory.sampled_evenly(N)])
        rows = self.acting(states)
        R = self.rows.factor(rows) / self.rows.weights
        scaled = R * self.parameter_weights[self.rows.order]
        if not np.isfinite(scaled).all():  # limits far beyond those of any robot
            return Figures(dict.fromkeys(CRITERIA, float('inf')), float('inf'))
        plain, weighted = (
            np.asarray(np.linalg.svd(part, compute_uv=False)) for part in (R, scaled)
        )
        share = float('nan')
        if self.expected is not None:
            tau = self.acting.torques(self.expected, rows)
            share = float(np.max(np.abs(tau) / self.limits.torque[:, None]))
        figures = {
            name: criterion.figure(weighted if criterion.weighted else plain, N)
            for name, criterion in CRITERIA.items()
        }
        return Figures(figures, share)
