"""IDIM with ordinary least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from robot_id.methods.idim.common import Fit
from robot_id.methods.idim.selecting import SelectingIdim
from robot_id.progress import Progress
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.system import System


@dataclass(frozen=True)
class IdimOls(SelectingIdim):
    """
    Ordinary least squares on the inverse dynamic model: all equations have the same weight.

    chi = arg min ||Y - W chi||. The textbook covariance is sigma^2 (W'W)^-1 with sigma^2 = ||Y - W
    chi||^2 / (r - b); it holds when all joints are equally noisy. Otherwise each joint counts with
    s_j^2 = ||rho_j||^2 / (r_j (1 - b/r)).

    :param noise: of classical deviations: joint allows for the noise of each joint; pooled is the
        textbook formula.
    """

    name: ClassVar[str] = 'idim_ols'

    noise: Literal['joint', 'pooled'] = 'joint'

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Solve with equal weights."""
        solution, R = system.solve()
        noise = np.full(observation.n, np.sqrt(solution.variance))
        if self.noise == 'joint':
            factors, p = system.factors, solution.kept.sum()
            rows = np.maximum(factors.rows * (1.0 - p / system.rows), 1.0)
            noise = factors.residual_norms(solution.chi) / np.sqrt(rows)
        return Fit(solution, R, np.ones(observation.n), noise)
