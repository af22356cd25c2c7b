"""The criterion as a function of a motion's coefficients, with its gradient."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from robot_id import dynamics
from robot_id.model import Robot
from robot_id.trajectory.clearance import Clearance
from robot_id.trajectory.criteria import condition, log_determinant, smooth_log_condition
from robot_id.trajectory.family import Family
from robot_id.trajectory.feasible import Gauge
from robot_id.trajectory.limits import MotionLimits
from robot_id.trajectory.trajectory import Array, Trajectory

_STEP = 1e-6
_PENALTY = 30.0
_POSTURES = 80
_FINER = 3


@dataclass(frozen=True)
class Figures:
    """
    How exciting a motion is.

    :param condition: cond(W).
    :param weighted: cond(Phi).
    :param determinant: det(Phi^T Phi)^(-1/2b), smaller is better.
    :param torque_share: largest predicted torque over its limit; NaN where none can be predicted.
    """

    condition: float
    weighted: float
    determinant: float
    torque_share: float

    def score(self, criterion: str) -> float:
        """Return the figure that a criterion makes small."""
        return float(getattr(self, criterion))


class Objective:
    """
    Value and gradient of the criterion on a decimated regressor.

    W depends on a sample's own state alone, so 3 n differences of the regressor at every sample,
    whatever the number of coefficients, give dW/d(q, dq, ddq); the basis gives the rest (chain
    rule). Coulomb friction is smooth at the start of a search, then sign(dq) as in the figures: a
    smooth one would reward a joint that creeps.

    :param criterion: a key of CRITERIA.
    :param parameter_weights: (b,) chi_bar.
    :param joint_weights: (n,) weights of the joints' rows, 1/sigma_j of paper 004.
    :param expected: (b,) parameters for the torque limits, or None.
    :param samples: number of samples in the decimated regressor.
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
    ) -> None:
        self.robot, self.family, self.limits = robot, family, limits
        self.criterion = criterion
        self.parameter_weights = parameter_weights
        self.joint_weights = joint_weights
        self.expected = expected
        self.clearance = clearance
        self.samples = samples
        duration = family.basis.duration
        self.basis = family.basis.sample(np.arange(samples) * (duration / samples))
        # Peaks between the samples count too; a finer grid costs the gauge next to nothing.
        fine = _FINER * samples
        self.gauge = Gauge(family.basis.sample(np.arange(fine) * (duration / fine)), limits)
        # Coulomb friction turns over within about two samples of the fastest sweep.
        self.slope = 0.3 * samples / float(np.max(limits.velocity))

    def states(self, X: Array) -> tuple[Array, Array, Array]:
        """Return q, dq, ddq, (N, n) each, of the decimated samples."""
        B, dB, ddB = self.basis
        return self.limits.middle + B @ X, dB @ X, ddB @ X

    def __call__(self, x: Array, power: float, smooth: bool = True) -> tuple[float, Array]:
        """
        Return the smooth criterion (a logarithm) and its gradient.

        :param x: (P n,) coefficients before they are scaled into the limits.
        :param power: of the smooth condition number; larger is sharper.
        :param smooth: whether Coulomb friction is smooth; sign(dq) is right, and has no slope.
        """
        slope = self.slope if smooth else None
        X0 = x.reshape(self.family.size, self.robot.n)
        scaled = self.gauge.scale(X0)
        q, dq, ddq = self.states(scaled.X)
        W = dynamics.regressor(self.robot, q, dq, ddq, coulomb_slope=slope)
        value, dW = self._criterion(W, power)
        penalty, dW_torque = self._torque_penalty(W)
        slopes = self._slopes(W, dW + dW_torque, (q, dq, ddq), slope)
        if self.clearance is not None:
            every = max(1, self.samples // _POSTURES)
            near, away = self.clearance.penalty(q[::every])
            penalty += near
            slopes[0][::every] += away
        gradient = sum(B.T @ s for B, s in zip(self.basis, slopes))
        return value + penalty, scaled.pull_back(np.asarray(gradient), X0).ravel()

    def _criterion(self, W: Array, power: float) -> tuple[float, Array]:
        """Return the value and its slope in W (N, n, b)."""
        N, n, b = W.shape
        weight = np.tile(self.joint_weights, N)[:, None]
        if self.criterion != 'condition':
            weight = weight * self.parameter_weights
        Q, R = np.linalg.qr(W.reshape(N * n, b) * weight)
        U, singular, Vt = np.linalg.svd(R)
        if self.criterion == 'determinant':
            value, slope = log_determinant(singular)
        else:
            value, slope = smooth_log_condition(singular, power)
        return value, (weight * (Q @ ((U * slope) @ Vt))).reshape(N, n, b)

    def _torque_penalty(self, W: Array) -> tuple[float, Array | float]:
        if self.expected is None:
            return 0.0, 0.0
        tau = W @ self.expected / self.limits.torque
        over = np.maximum(np.abs(tau) - 0.97, 0.0)
        if not np.any(over):
            return 0.0, 0.0
        scale = _PENALTY / len(W) * 100.0
        d_tau = 2.0 * scale * over * np.sign(tau) / self.limits.torque
        return float(scale * np.sum(over**2)), d_tau[:, :, None] * self.expected

    def _slopes(
        self, W: Array, dW: Array, states: tuple[Array, Array, Array], slope: float | None
    ) -> Array:
        """Return (3, N, n): slopes in q, dq, ddq, from differences of the regressor."""
        slopes = np.empty((3, *states[0].shape))
        here = np.einsum('nji,nji->n', W, dW)
        # W is linear in ddq, so that step may be large.
        for a, step in enumerate((_STEP, _STEP, 1.0)):
            for k in range(self.robot.n):
                moved = states[a].copy()
                moved[:, k] += step
                q, dq, ddq = (moved if i == a else state for i, state in enumerate(states))
                there = dynamics.regressor(self.robot, q, dq, ddq, coulomb_slope=slope)
                slopes[a, :, k] = (np.einsum('nji,nji->n', there, dW) - here) / step
        return slopes

    def for_thread(self) -> Objective:
        """Return the same objective with work space of its own."""
        twin = copy.copy(self)
        twin.clearance = None if self.clearance is None else self.clearance.copy()
        return twin

    def within_limits(self, X0: Array) -> Array:
        """Return coefficients (P, n) whose motion keeps the limits at every instant."""
        X = self.gauge.scale(X0).X
        share = self.limits.usage(self.family.member(X, self.limits.middle))
        return X / np.maximum(share, 1.0)

    def admissible(self, X: Array, samples: int) -> bool:
        """Tell whether predicted torques and clearance allow the motion, on so many samples."""
        trajectory = self.family.member(X, self.limits.middle)
        t = np.arange(samples) * (trajectory.duration / samples)
        if self.expected is not None:
            tau = dynamics.inverse_dynamics(self.robot, self.expected, *trajectory.sample(t))
            if np.any(np.abs(tau) > self.limits.torque):
                return False
        return self.clearance is None or self.clearance.keeps(trajectory.sample(t)[0])

    def shrink(self, X: Array, samples: int, steps: int = 8) -> Array | None:
        """
        Return the motion made smaller about its start posture until it is admissible.

        None where even the start posture is not.
        """
        if self.admissible(X, samples):
            return X
        small, large = 0.0, 1.0
        motion = np.ones((len(X), 1))
        for _ in range(steps):
            middle = 0.5 * (small + large)
            motion[1:] = middle
            small, large = (
                (middle, large) if self.admissible(X * motion, samples) else (small, middle)
            )
        motion[1:] = small
        return X * motion if small > 0.0 else None

    def figures(self, trajectory: Trajectory, refine: int = 1) -> Figures:
        """
        Return the exact figures of a motion, with sign(dq).

        :param refine: how many times more samples than the search uses.
        """
        N = self.samples * refine
        states = trajectory.sample(np.arange(N) * (trajectory.duration / N))
        W = dynamics.regressor(self.robot, *states)
        b = W.shape[2]
        rows = (W * self.joint_weights[:, None]).reshape(-1, b)
        plain = np.asarray(np.linalg.svd(rows, compute_uv=False))
        weighted = np.asarray(np.linalg.svd(rows * self.parameter_weights, compute_uv=False))
        share = float('nan')
        if self.expected is not None:
            share = float(np.max(np.abs(W @ self.expected) / self.limits.torque))
        return Figures(
            condition(plain),
            condition(weighted),
            # Per sample, so that it does not depend on how many are taken.
            float(np.exp(log_determinant(weighted / np.sqrt(N))[0])),
            share,
        )
