"""The whole system of all joints, weighted joint by joint, and its solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.constraint import Constraint
from robot_id.regression.least_squares import Solution, solve
from robot_id.regression.triangular import JointFactors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class System:
    """
    Y_j = W_j chi of every joint, with what is solved for.

    :param factors: the triangular factors of [W_j Y_j].
    :param kept: (b,) parameters to solve for; None: all.
    :param constraint: constraint on chi, None for none.
    """

    factors: JointFactors
    kept: NDArray[np.bool_] | None = None
    constraint: Constraint | None = None

    @property
    def rows(self) -> int:
        """Number r of equations."""
        return int(self.factors.rows.sum())

    def solve(
        self, weights: Array | None = None, factors: JointFactors | None = None
    ) -> tuple[Solution, Array]:
        """
        Solve with one weight for each joint; also return the factor (b + 1, b + 1) it came from.

        :param weights: (n,) weights of the joints, None for equal ones.
        :param factors: factors of the same rows with weights of their own.
        """
        R = (factors or self.factors).stack(weights)
        return solve(R, self.rows, self.factors.names, self.kept, self.constraint), R

    def joint_weights(self) -> tuple[Array, Array]:
        """
        Return (n,) weights 1 / sigma_j and sigma_j of each joint's own residual (004, eq. 6).

        A joint that its model explains to the last digit would get an infinite weight, so sigma_j
        is kept above rounding.
        """
        sigma = self.factors.joint_deviations()
        rms = self.factors.torque_norms() / np.sqrt(np.maximum(self.factors.rows, 1))
        sigma = np.maximum(sigma, 1e-12 * max(rms.max(initial=0.0), 1e-30))
        return 1.0 / sigma, sigma
