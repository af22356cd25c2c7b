"""IDIM with maximum likelihood: the noise of the positions in W is taken into account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import scipy.linalg as sl

from robot_id.methods.idim.common import Fit, Idim
from robot_id.methods.recursive.settings import per_item
from robot_id.methods.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.ranges import NotNegative, Range
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.errors_in_variables import likelihood, lost_by_the_filter
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import triangle
from robot_id.regression.uncertainty.standard_errors import back, least_squares_covariance

# Settled: no parameter moves by more than this many of its deviations.
SETTLED = 0.01


@dataclass(frozen=True)
class IdimMl(Idim):
    """
    Maximum likelihood of the inverse model with errors in variables (Olsen, Petersen 2001).

    Each row is weighted by what the noise of the positions does to it, and W is taken along the
    estimated motion, so that noise in W leaves no bias to first order. Without that noise it is
    idim_wls.

    :param position_std: noise of the measured positions, one or one for each joint; none: what
        the position filter takes away.
    :param iterations: largest number of iterations.
    """

    name: ClassVar[str] = 'idim_ml'
    linear: ClassVar[bool] = False
    least_squares: ClassVar[bool] = False
    takes_motion_as_exact: ClassVar[bool] = False

    position_std: NotNegative | Sequence[NotNegative] | None = None
    iterations: Annotated[int, Range(1, 1000)] = 20

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Iterate from the weighted least squares solution."""
        weights, sigma = system.joint_weights()
        solution, R = system.solve(weights)
        noise = sigma * np.sqrt(solution.variance)
        if self.position_std is None:
            std = lost_by_the_filter(observation)
        else:
            std = per_item('position_std', self.position_std, observation.robot.joint_names)
        extras = {'joint_deviations': sigma.tolist(), 'position_std': std.tolist()}
        first = Fit(solution, R, weights, noise, extras)
        if not np.any(std > 0.0):
            return first
        problem = likelihood(observation, std, solution.chi, noise)
        chi, history, converged = solution.chi.copy(), list[Iteration](), False
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            change, rows = problem.step(chi, solution.kept)
            chi = chi + change
            history.append(Iteration(chi, float('nan')))
            R = triangle(rows[:, :, :-1].reshape(-1, rows.shape[2] - 1))
            root = sl.solve_triangular(R, np.eye(len(R)))
            deviation = np.sqrt(np.sum(root**2, axis=1))
            if np.all(np.abs(change[solution.kept]) <= SETTLED * deviation):
                converged = True
                break
        covariance, known = np.full_like(solution.covariance, np.nan), root @ root.T
        if self.deviations != 'classical':
            residual = back(observation, problem.used.sum(axis=0)) * rows[:, :, -1]
            drawn = self.deviations == 'bootstrap'
            known = least_squares_covariance([rows[:, :, :-1]], [residual], drawn)
        covariance[np.ix_(solution.kept, solution.kept)] = known
        found = replace(solution, chi=chi, covariance=covariance)
        return replace(
            first, solution=found, iterations=len(history), history=tuple(history),
            converged=converged,
        )  # fmt: skip

    def state_deviations(self, fit: Fit, observation: Observation, system: System) -> Fit:
        """Return the fit: its covariance is that of its own rows, weighted one by one."""
        return fit if fit.history else super().state_deviations(fit, observation, system)
