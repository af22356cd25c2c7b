"""IDIM with ordinary least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from robot_id.estimation.idim import Fit, SelectingIdim, solve_weighted
from robot_id.estimation.observation import Observation
from robot_id.estimation.triangular import JointFactors
from robot_id.progress import Progress


@dataclass(frozen=True)
class IdimOls(SelectingIdim):
    """
    Ordinary least squares on the inverse dynamic model: every equation counts the same.

    chi = arg min ||Y - W chi||, covariance sigma^2 (W'W)^-1 with
    sigma^2 = ||Y - W chi||^2 / (r - b).
    """

    name: ClassVar[str] = 'idim_ols'

    def fit(
        self,
        observation: Observation,
        factors: JointFactors,
        kept: NDArray[np.bool_],
        progress: Progress,
    ) -> Fit:
        """Solve with equal weights."""
        return Fit(*solve_weighted(factors, kept))
