"""Physical consistency inside a least-squares step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.consistency.fit import Fitter, PhysicalFit
from robot_id.regression.solvers.least_squares import Solution, solve
from robot_id.robot import Robot

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Physical:
    """
    Confines a solution to physically consistent parameters.

    Base parameters keep the deviations of least squares.

    :param fitter: of the robot.
    """

    fitter: Fitter

    def fit(self, R: Array, free: Solution) -> PhysicalFit:
        """
        Return the physically consistent robot nearest to a system.

        :param R: (b + 1, b + 1) factor of [W Y].
        :param free: its solution without constraints.
        """
        # Data without noise are still not sharper than rounding.
        floor = 1e-9 * float(np.linalg.norm(R[:, -1])) / np.sqrt(free.freedom)
        sigma = max(float(np.sqrt(free.variance)), floor)
        return self.fitter.fit(R[:, :-1] / sigma, R[:, -1] / sigma)

    def solve(self, R: Array, rows: int, names: Sequence[str], kept: Flags) -> Solution:
        """Solve min ||Y - W chi|| over the physically consistent robots (see `Constraint`)."""
        free = solve(R, rows, names, kept)
        chi = self.fit(R, free).chi
        residual = float(np.linalg.norm(R[:, -1] - R[:, :-1] @ chi))
        return replace(free, chi=chi, residual_norm=residual, variance=residual**2 / free.freedom)


def physical_constraint(robot: Robot) -> Physical:
    """Return the constraint of a robot."""
    return Physical(Fitter(robot))
