"""
What the recorded motion says about the control loop: bandwidth, damping and delay, estimated.

The tracking of a loop whose gains follow the estimate depends on the parameters chi very little:
q(s) = G(s) e^(-s d) qr(s) with the bandwidth and the damping of each joint in G. So the numbers
theta = [log(wn_j / given), log(zeta_j / given), d] are fitted to the recorded positions, by
Gauss-Newton steps with the sensitivities of the closed loop, whatever the torques say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray
from scipy.special import chdtri

from robot_id.dynamics import Simulation
from robot_id.dynamics.simulation.sensitivity import gain_sensitivities
from robot_id.exceptions import SimulationError
from robot_id.methods.closed_loop.jacobian import (
    coarse_step,
    following_jacobian,
    linear_feedback,
    sensitivity_rows,
)
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.regression.rows.sampling import States
from robot_id.regression.solvers.triangular import triangle
from robot_id.regression.uncertainty.sandwich import score_covariance

Array = NDArray[np.float64]
# How far a loop may be from what is said of it: deviations of the logarithms and, in samples of
# the recording, of the delay. They hold back what the motion does not tell, nothing else.
PRIOR_LOG, PRIOR_SAMPLES = 1.0, 5.0
# No step multiplies a bandwidth or a damping by more than e^this.
LONGEST_STEP = 0.7
STEPS, HALVINGS = 12, 6
# Settled: no number moves by more than this share of its deviation.
SETTLED = 0.1
# A loop that fits the motion is refused so rarely.
CHANCE = 1e-3
# Logarithms, and samples of delay, below which the simulation itself is no more exact.
SMALL_LOG, SMALL_SAMPLES = 2e-3, 0.02
# Positions without any noise: errors this small beside the motion are rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class LoopFit:
    """
    A loop that moves as the recording does.

    :param problem: the problem with this loop.
    :param theta: (2n + 1,) what it differs by from the given one.
    :param covariance: (2n + 1, 2n + 1) of theta.
    :param error: (n,) rms of the positions that is left.
    """

    problem: LoopProblem
    theta: Array
    covariance: Array
    error: Array

    @cached_property
    def contradicts(self) -> bool:
        """Whether theta is neither small nor chance: theta' C^-1 theta is chi-squared."""
        n2 = self.theta.size - 1
        step = self.problem.runs[0].run.step
        small = abs(self.theta[n2]) < SMALL_SAMPLES * step
        if small and np.all(np.abs(self.theta[:n2]) < SMALL_LOG):
            return False
        root = np.linalg.cholesky(self.covariance)
        z = sl.solve_triangular(root, self.theta, lower=True)
        return float(z @ z) > float(chdtri(self.theta.size, CHANCE))


def words(theta: Array) -> str:
    """Return what the numbers of a loop differ by."""
    n = (theta.size - 1) // 2
    parts = []
    for name, logs in (('bandwidth', theta[:n]), ('damping', theta[n : 2 * n])):
        parts.append(f'{name} x {", ".join(f"{v:.4g}" for v in np.exp(logs))}')
    late = 1e3 * theta[2 * n]
    return ', '.join(
        [*parts, f'reference {"lags" if late >= 0 else "leads"} by {abs(late):.3g} ms']
    )


def can_fit(problem: LoopProblem, chi: Array) -> bool:
    """Whether a reference was recorded and the law has sensitivities."""
    if not problem.recorded:
        return False
    own = problem.controller(chi)
    return own.law.feedback(own) is not None


def fit_loop(
    problem: LoopProblem, chi: Array, covariance: Array | None = None, steps: int = STEPS
) -> LoopFit:
    """
    Fit bandwidths, dampings and delay of a loop to the recorded positions.

    :param problem: with the given loop.
    :param chi: (b,) parameters near the robot's; their error matters little.
    :param covariance: (b, b) of these.
    :param steps: 0 tells by one linear step what the loop would differ by, and leaves it.
    """
    now = _State(problem, chi, np.zeros(2 * problem.robot.n + 1))
    step = now.step()
    for _ in range(steps):
        if np.all(np.abs(step) <= SETTLED * np.sqrt(np.diag(now.covariance()))):
            break
        better = _shorter(now, step)
        if better is None:
            break
        now, step = better, better.step()
    theta = now.theta if steps else step
    found = problem
    if now.problem is not problem:
        found = problem.with_loop(now.problem.loop, now.problem.delay_s)
    return LoopFit(found, theta, now.covariance(covariance), _rms(now.residual))


class _State:
    """One loop, simulated, with how the positions depend on its numbers."""

    def __init__(self, given: LoopProblem, chi: Array, theta: Array) -> None:
        n = given.robot.n
        self.given, self.chi, self.theta = given, chi, theta
        self.problem = given
        if np.any(theta != 0.0):
            scale = np.exp(theta[: 2 * n])
            changes = {
                'bandwidth': tuple(scale[:n] * given.loop.bandwidth),
                'damping': tuple(scale[n:] * given.loop.damping),
            }
            loop = given.loop.model_copy(update=changes)
            delay = given.delay_s + float(theta[2 * n])
            self.problem = given.with_loop(loop, delay, same_rows=True)
        self.simulations = self.problem.simulate(chi)
        given.simulations = self.problem.simulations
        target = _positions(given, [r.run.position for r in given.runs])
        simulated = [s.position[:: r.every] for r, s in zip(given.runs, self.simulations)]
        self.residual = target - _positions(given, simulated)
        self.prior = np.full(theta.size, PRIOR_LOG)
        self.prior[2 * n] = PRIOR_SAMPLES * given.runs[0].run.step
        self._range = np.maximum(np.ptp(target, axis=0), 1e-6)

    @cached_property
    def slopes(self) -> Array:
        """(R, n, 2n + 1) d q/d theta, decimated rows."""
        return loop_slopes(self.problem, self.chi, self.simulations)[0]

    @cached_property
    def weights(self) -> Array:
        """(n,) one over the deviation of each joint that its own numbers leave."""
        n = self.given.robot.n
        left = np.empty(n)
        for j in range(n):
            own, residual = self.slopes[:, j, [j, n + j, 2 * n]], self.residual[:, j]
            rest = residual - own @ np.linalg.lstsq(own, residual, rcond=None)[0]
            left[j] = np.sqrt(np.mean(rest**2))
        return 1.0 / np.maximum(left, ROUNDING * self._range)

    def step(self) -> Array:
        """(2n + 1,) the next step, no longer than the model holds."""
        full = self.newton
        return full * min(1.0, LONGEST_STEP / max(float(np.abs(full[:-1]).max()), 1e-300))

    @cached_property
    def newton(self) -> Array:
        """(2n + 1,) the whole Gauss-Newton step."""
        rows = (self.slopes * self.weights[:, None]).reshape(-1, self.theta.size)
        rho = (self.residual * self.weights).ravel()
        A = np.vstack([rows, np.diag(1.0 / self.prior)])
        y = np.concatenate([rho, -self.theta / self.prior])
        return np.linalg.lstsq(A, y, rcond=None)[0]

    def cost(self, weights: Array) -> float:
        """Return the weighted sum of squares."""
        errors = np.sum((self.residual * weights) ** 2)
        return float(errors + np.sum((self.theta / self.prior) ** 2))

    def covariance(self, of_chi: Array | None = None) -> Array:
        """
        Return the covariance of theta for the residual as it is: A^-1 (J' Gamma J + P^-1) A^-1.

        A = J'J + P^-1 with the prior P, from triangular factors; what chi does not know moves the
        positions too, by d q/d chi.

        :param of_chi: (b, b) covariance of the parameters.
        """
        p, J = self.theta.size, self.slopes * self.weights[:, None]
        R = triangle(np.vstack([J.reshape(-1, p), np.diag(1.0 / self.prior)]))
        Z = sl.solve_triangular(R, J.reshape(-1, p).T, trans='T').T
        held = sl.solve_triangular(R, np.diag(1.0 / self.prior), trans='T')
        # What the step explains is no noise.
        residual = (self.residual - self.slopes @ self.newton) * self.weights
        scores = score_covariance([Z.reshape(J.shape)], [residual]) + held @ held.T
        if of_chi is not None:
            own = Z.T @ (self._parameter_slopes() * self.weights[:, None]).reshape(len(Z), -1)
            scores += own @ of_chi @ own.T
        root = sl.solve_triangular(R, np.eye(p))
        covariance = root @ scores @ root.T
        return 0.5 * (covariance + covariance.T)

    def _parameter_slopes(self) -> Array:
        """(R, n, b) d q/d chi with gains that follow chi."""
        known = self.problem.known_slopes
        if known is not None and np.array_equal(known[0], self.chi):
            return known[1]
        return following_jacobian(self.problem, self.chi, self.simulations, ('position',))[0]


def _shorter(now: _State, step: Array) -> _State | None:
    """Return the first of ever shorter steps that lowers the cost; None where none does."""
    cost = now.cost(now.weights)
    for _ in range(HALVINGS):
        try:
            trial = _State(now.given, now.chi, now.theta + step)
            if trial.cost(now.weights) < cost:
                return trial
        except SimulationError:
            pass
        step = 0.5 * step
    return None


def loop_slopes(
    problem: LoopProblem, chi: Array, simulations: list[Simulation]
) -> tuple[Array, Array]:
    """(R, n, 2n + 1) d q/d theta and d tau/d theta, decimated rows of all runs."""
    parts = [_slopes(problem, chi, k, s) for k, s in enumerate(simulations)]
    return np.concatenate([q for q, _ in parts]), np.concatenate([t for _, t in parts])


def _slopes(problem: LoopProblem, chi: Array, k: int, s: Simulation) -> tuple[Array, Array]:
    """
    Return the sensitivities of one run.

    Kp = wn^2 J, Kv = 2 zeta wn J; a robot knows no time of its own, so a later reference moves
    all by -d/dt.
    """
    r, n = problem.runs[k], problem.robot.n
    feedback = linear_feedback(problem.controller(chi))
    Kp, Kv = feedback[:2]
    coarse = coarse_step(problem.factor, r.run.rate)
    pick = slice(None, None, coarse * r.every)
    q, dq, ddq, tau = (x[pick] for x in (s.position, s.velocity, s.acceleration, s.torque))
    e = Kp * (s.reference.position[pick] - q)
    feed = s.reference.velocity[pick] if feedback.feeds_velocity else 0.0
    v = Kv * (feed - dq)
    effect = np.zeros((len(q), n, 2 * n))
    for j in range(n):
        effect[:, j, j] = 2.0 * e[:, j] + v[:, j]
        effect[:, j, n + j] = v[:, j]
    step = coarse * r.run.step
    S, T = gain_sensitivities(
        problem.robot, chi, (q, dq, ddq), step, (Kp, Kv), effect, problem.slope
    )
    S = np.concatenate([S, -dq[:, :, None]], axis=2)
    T = np.concatenate([T, -np.gradient(tau, step, axis=0)[:, :, None]], axis=2)
    return sensitivity_rows(problem, r, S, coarse), sensitivity_rows(problem, r, T, coarse)


def _positions(problem: LoopProblem, positions: list[Array]) -> Array:
    """(R, n) decimated positions."""
    return problem.rows(lambda s: s.q, [States(q, q, q, q) for q in positions])


def _rms(residual: Array) -> Array:
    return np.sqrt(np.mean(residual**2, axis=0))
