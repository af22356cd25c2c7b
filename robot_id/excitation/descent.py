"""One local search: L-BFGS on criteria that grow sharper from stage to stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.excitation.objective import Objective
from robot_id.excitation.quasi_newton import minimize
from robot_id.excitation.weighted_rows import ANY_ORDER
from robot_id.kernel_cache import njit
from robot_id.trajectory.trajectory import Array

_MEMORY = 60


@dataclass(frozen=True)
class Stage:
    """
    How sharp the criterion is.

    :param power: of the smooth condition number: small for the shape of the whole, large for the
        worst directions alone.
    :param gauge: of the norm that keeps the limits: a motion may come nearer to them as it grows.
    :param iterations: at most.
    """

    power: float
    gauge: float
    iterations: int


EXPLORE = (Stage(2.0, 60.0, 60), Stage(6.0, 60.0, 100))
IMPROVE = (Stage(16.0, 150.0, 200),)
POLISH = (Stage(64.0, 400.0, 2000),)


@njit(**ANY_ORDER)
def solve_joints(C, x, transposed):
    """
    Overwrite x_j by C_j^-1 x_j, or by C_j^-T x_j.

    :param C: (n, P, P) upper triangular.
    :param x: (n, P).
    """
    n, P = x.shape
    for j in range(n):
        y = x[j]
        if transposed:
            for i in range(P):
                row = C[j, i]
                found = y[i] / row[i]
                y[i] = found
                for k in range(i + 1, P):
                    y[k] -= row[k] * found
        else:
            for i in range(P - 1, -1, -1):
                row, summed = C[j, i], 0.0
                for k in range(i + 1, P):
                    summed += row[k] * y[k]
                y[i] = (y[i] - summed) / row[i]


def descend(
    objective: Objective,
    X: Array,
    stages: tuple[Stage, ...],
    before_each: Callable[[], None],
    offer: Callable[[Array], None],
) -> None:
    """
    Improve the motion with coefficients X (P, n); the result of each stage is offered.

    :param before_each: called before each evaluation; what it raises ends the search, and is
        raised again after the last iterate was offered.
    """
    C = objective.gauge.factors
    last = np.einsum('jpq,qj->jp', C, X).ravel()

    def solved(x: Array, transposed: bool) -> Array:
        """Return C_j^-1 x_j (or of C_j^T) of all joints, (n, P)."""
        parts = x.reshape(C.shape[:2]).copy()
        solve_joints(C, parts, transposed)
        return parts

    def coefficients(x: Array) -> Array:
        return solved(x, False).T

    def value(x: Array) -> tuple[float, Array]:
        before_each()
        f, g = objective(coefficients(x).ravel(), stage.power, stage.gauge)
        return f, solved(g.reshape(X.shape).T, True).ravel()

    def keep(x: Array) -> None:
        nonlocal last
        last = x

    for stage in stages:
        try:
            minimize(value, last, stage.iterations, _MEMORY, keep)
        finally:
            offer(coefficients(last))


KERNELS['solve_joints'] = Kernel(
    solve_joints, lambda robot, chi, x: solve_joints(np.ones((1, 1, 1)), x.copy(), True)
)
