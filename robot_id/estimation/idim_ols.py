"""IDIM with ordinary least squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.estimation.idim import Fit, SelectingIdim, solve_weighted
from robot_id.estimation.least_squares import Solution
from robot_id.estimation.observation import Observation
from robot_id.estimation.triangular import JointFactors, triangle
from robot_id.progress import Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IdimOls(SelectingIdim):
    """
    Ordinary least squares on the inverse dynamic model: every equation counts the same.

    chi = arg min ||Y - W chi||. The textbook covariance is sigma^2 (W'W)^-1 with
    sigma^2 = ||Y - W chi||^2 / (r - b); it holds when all joints are equally noisy.

    :param deviations: joint allows for the noise of each joint; pooled is the textbook formula.
    """

    name: ClassVar[str] = 'idim_ols'

    deviations: Literal['joint', 'pooled'] = 'joint'

    def fit(
        self,
        observation: Observation,
        factors: JointFactors,
        kept: NDArray[np.bool_],
        progress: Progress,
    ) -> Fit:
        """Solve with equal weights."""
        return self.with_deviations(Fit(*solve_weighted(factors, kept)), factors)

    def reduce(self, fit: Fit, factors: JointFactors, inflation: float) -> Fit:
        """Eliminate parameters by the textbook F-test, then state the deviations as asked."""
        return self.with_deviations(super().reduce(fit, factors, inflation), factors)

    def with_deviations(self, fit: Fit, factors: JointFactors) -> Fit:
        """Put the covariance that was asked for in place of the textbook one."""
        if self.deviations == 'pooled':
            return fit
        covariance = joint_covariance(factors, fit.solution)
        return replace(fit, solution=replace(fit.solution, covariance=covariance))


def joint_covariance(factors: JointFactors, solution: Solution) -> Array:
    """
    Return the (b, b) covariance of an OLS solution when each joint has a noise of its own.

    C = A^-1 (sum_j s_j^2 W_j'W_j) A^-1 with A = W'W and s_j^2 = ||rho_j||^2 / (r_j (1 - p/r)).
    """
    kept = solution.kept
    p, rows = int(kept.sum()), factors.rows
    scale = np.maximum(rows * (1.0 - p / rows.sum()), 1.0)
    deviations = factors.residual_norms(solution.chi) / np.sqrt(scale)
    U = triangle(factors.stack()[:, :-1][:, kept])[:p]
    noise = triangle(factors.stack(deviations)[:, :-1][:, kept])[:p]
    # noise U^-1, then its product with itself between U^-1 and its transpose.
    half = sl.solve_triangular(U, noise.T, trans='T').T
    half = sl.solve_triangular(U, half.T)
    covariance = np.full((kept.size, kept.size), np.nan)
    covariance[np.ix_(kept, kept)] = half @ half.T
    return covariance
