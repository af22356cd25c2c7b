"""IDIM with iteratively reweighted least squares against outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.idim.common import Fit
from robot_id.methods.idim.selecting import SelectingIdim
from robot_id.methods.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.ranges import Range, Tolerance
from robot_id.regression.rows.observation import Observation
from robot_id.regression.rows.prediction import relative_error_percent
from robot_id.regression.solvers.least_squares import Solution
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import JointFactors

Array = NDArray[np.float64]
# 95 % efficiency on Gaussian noise.
TUNING = {'huber': 1.345, 'bisquare': 4.685}
# The median of |u| of a standard normal u.
MAD = 0.6744897501960817


@dataclass(frozen=True)
class IdimIrls(SelectingIdim):
    """
    Robust least squares: samples far outside their joint's scatter lose their weight.

    With u = rho / s_j and s_j the median absolute residual of joint j (over 0.6745), each equation
    is weighted by sqrt(w(u)) / s_j and the system solved again until chi settles. Huber: w =
    min(1, c/|u|). Bisquare: w = (1 - (u/c)^2)^2, zero beyond c; it starts from the Huber solution
    and keeps its scale.

    :param loss: huber (bounded influence) or bisquare (gross outliers have none at all).
    :param tuning: c; none means 95 % efficiency (1.345 for huber, 4.685 for bisquare).
    :param tolerance: stop when no parameter moves more than this many of its deviations.
    :param max_iterations: largest number of solutions.
    """

    name: ClassVar[str] = 'idim_irls'
    least_squares: ClassVar[bool] = False

    loss: Literal['huber', 'bisquare'] = 'huber'
    tuning: Annotated[float, Range(1e-3, 1e6)] | None = None
    tolerance: Tolerance = 1e-3
    max_iterations: Annotated[int, Range(1, 10_000)] = 50

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Reweight and solve until the estimate settles."""
        factors = system.factors
        solution, R = system.solve(system.joint_weights()[0])
        history: list[Iteration] = []
        norms = factors.torque_norms()
        losses = ['huber'] if self.loss == 'huber' else ['huber', 'bisquare']
        scale = np.ones(observation.n)
        moved, residuals = np.inf, []
        for loss in losses:
            c = self.tuning if self.tuning and loss == self.loss else TUNING[loss]
            moved = np.inf
            while moved > self.tolerance and len(history) < self.max_iterations:
                residuals = observation.residuals(solution.chi)
                if loss == 'huber':
                    scale = _scales(residuals, norms)
                weighted = observation.factors(weigh=_Weigh(solution.chi, scale, loss, c))
                last = solution
                solution, R = system.solve(factors=weighted)
                moved = _movement(last, solution)
                rho = weighted_error(factors, solution.chi, norms)
                history.append(Iteration(solution.chi, rho))
                progress(len(history) / self.max_iterations, history_text(history))
        residuals = observation.residuals(solution.chi)
        shares = [
            float(np.mean(weight(r / s, self.loss, c) < 0.5)) for r, s in zip(residuals, scale)
        ]
        noise = scale * self._noise(residuals, scale, solution.freedom, c)
        extras = {'joint_scales': scale.tolist(), 'downweighted_share': shares}
        rested = bool(moved <= self.tolerance)
        return Fit(solution, R, 1.0 / scale, noise, extras, len(history), tuple(history), rested)

    def _noise(self, residuals: list[Array], scale: Array, freedom: int, c: float) -> float:
        """
        Return the noise of the M-estimator in units of the scale.

        Its covariance is that of least squares with the variance
        sum psi(u)^2 / (r - p) / mean(psi'(u))^2, psi = u w(u).
        """
        u = np.concatenate([r / s for r, s in zip(residuals, scale)])
        psi, slope = u * weight(u, self.loss, c), _psi_slope(u, self.loss, c)
        return float(np.sqrt(np.sum(psi**2) / freedom) / max(float(np.mean(slope)), 1e-3))


@dataclass(frozen=True)
class _Weigh:
    """Weights of the rows of a block, the root of w(u) over the joint's scale."""

    chi: Array
    scale: Array
    loss: str
    c: float

    def __call__(self, joint: int, W: Array, Y: Array, columns: NDArray[np.intp]) -> Array:
        u = (Y - W @ self.chi[columns]) / self.scale[joint]
        return np.sqrt(weight(u, self.loss, self.c)) / self.scale[joint]


def weight(u: Array, loss: str, c: float) -> Array:
    """Return w(u) = psi(u) / u of a loss."""
    if loss == 'huber':
        return np.minimum(1.0, c / np.maximum(np.abs(u), 1e-300))
    return np.where(np.abs(u) < c, (1.0 - (u / c) ** 2) ** 2, 0.0)


def _psi_slope(u: Array, loss: str, c: float) -> Array:
    if loss == 'huber':
        return (np.abs(u) < c).astype(float)
    v = (u / c) ** 2
    return np.where(v < 1.0, (1.0 - v) * (1.0 - 5.0 * v), 0.0)


def _scales(residuals: list[Array], norms: Array) -> Array:
    """(n,) median absolute residual over 0.6745, kept above rounding."""
    floor = 1e-12 * max(float(np.max(norms)), 1e-300)
    medians = [float(np.median(np.abs(r))) if r.size else 0.0 for r in residuals]
    return np.maximum(np.array(medians) / MAD, floor)


def _movement(last: Solution, now: Solution) -> float:
    """Return the largest change of a parameter in units of its deviation."""
    kept = now.kept
    sigma = np.sqrt(np.diag(now.covariance)[kept])
    change = np.abs(now.chi - last.chi)[kept]
    return float(np.max(change / np.maximum(sigma, 1e-300), initial=0.0))


def weighted_error(factors: JointFactors, chi: Array, norms: Array) -> float:
    """Return the relative error of chi over all equations, outliers included."""
    return relative_error_percent(factors.residual_norms(chi), norms)
