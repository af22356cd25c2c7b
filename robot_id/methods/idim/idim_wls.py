"""IDIM with weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robot_id.methods.idim.common import Fit
from robot_id.methods.idim.selecting import SelectingIdim
from robot_id.progress import Progress
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.system import System


@dataclass(frozen=True)
class IdimWls(SelectingIdim):
    """
    Weighted least squares: each joint's equations are divided by its own residual deviation.

    sigma_j^2 = ||rho_j||_min^2 / (r_j - p_j) from the regression of joint j alone (paper 004, eq.
    6), so that large joints do not outweigh the wrist.
    """

    name: ClassVar[str] = 'idim_wls'

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Solve with the weights 1 / sigma_j."""
        weights, sigma = system.joint_weights()
        solution, R = system.solve(weights)
        noise = sigma * np.sqrt(solution.variance)
        return Fit(solution, R, weights, noise, {'joint_deviations': sigma.tolist()})
