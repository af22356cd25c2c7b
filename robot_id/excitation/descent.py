"""One local search: L-BFGS on criteria that grow sharper from stage to stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.linalg import blas

from robot_id.excitation.objective import Objective
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
    factors = [np.asfortranarray(R) for R in C]

    def solved(x: Array, transposed: bool) -> Array:
        """Return C_j^-1 x_j (or of C_j^T) of all joints as the columns of (P, n)."""
        parts = zip(factors, x.reshape(C.shape[:2]))
        return np.stack([blas.dtrsv(R, own, trans=transposed) for R, own in parts], axis=1)

    def coefficients(x: Array) -> Array:
        return solved(x, False)

    def value(x: Array, stage: Stage) -> tuple[float, Array]:
        before_each()
        f, g = objective(coefficients(x).ravel(), stage.power, stage.gauge)
        return f, solved(g.reshape(X.shape).T, True).T.ravel()

    def keep(x: Array) -> None:
        nonlocal last
        last = x.copy()

    for stage in stages:
        try:
            scipy.optimize.minimize(  # type: ignore[call-overload]
                value,
                last,
                args=(stage,),
                jac=True,
                method='L-BFGS-B',
                callback=keep,
                options={'maxiter': stage.iterations, 'maxfun': 10**6, 'maxcor': _MEMORY},
            )
        finally:
            offer(coefficients(last))
