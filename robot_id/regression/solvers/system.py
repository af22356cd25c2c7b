"""The whole system of all joints, weighted joint by joint, and its solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.solvers.least_squares import Constraint, Solution, solve
from robot_id.regression.solvers.triangular import JointFactors

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

        A joint with few rows has little freedom to show its noise, with no more rows than
        parameters none: its residual is small or zero whatever the noise is. So each joint gets
        one degree of freedom more, with the share of the torque that the joints leave on average:
        sigma_j^2 = (||rho_j||^2 + e^2 m_j^2) / (f_j + 1), with the freedom f_j, the mean square
        m_j^2 of the torque, and log e^2 the mean of log(||rho_j||^2 / (f_j m_j^2)) over all
        degrees of freedom. Noise that is zero to the last digit is kept above rounding.
        """
        norms, freedom = self.factors.own_residuals()
        size = self.factors.torque_norms() / np.sqrt(np.maximum(self.factors.rows, 1))
        known = (freedom > 0) & (norms > 0.0) & (size > 0.0)
        share = 1.0
        if known.any():
            shares = norms[known] / (np.sqrt(freedom[known]) * size[known])
            share = float(np.exp(np.average(np.log(shares), weights=freedom[known])))
        # A joint without any residual in spite of its freedom is exact.
        exact = (freedom > 0) & (norms == 0.0)
        common = np.where(exact, 0.0, share * size)
        sigma = np.sqrt((norms**2 + common**2) / (freedom + 1.0))
        sigma = np.maximum(sigma, 1e-12 * max(size.max(initial=0.0), 1e-30))
        return 1.0 / sigma, sigma
