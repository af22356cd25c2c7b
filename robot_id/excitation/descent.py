"""One local search: L-BFGS on criteria that grow sharper from stage to stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

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
    Improve the motion with coefficients X (P, n); what each stage reaches is offered.

    :param before_each: called before each evaluation; what it raises ends the search, and is
        raised again after the last iterate was offered.
    """
    C = objective.gauge.factors()
    last = np.einsum('jpq,qj->jp', C, X).ravel()

    def coefficients(x: Array) -> Array:
        return np.linalg.solve(C, x.reshape(*C.shape[:2], 1))[..., 0].T

    def value(x: Array, stage: Stage) -> tuple[float, Array]:
        before_each()
        f, g = objective(coefficients(x).ravel(), stage.power, stage.gauge)
        pulled = np.linalg.solve(np.swapaxes(C, 1, 2), g.reshape(X.shape).T[..., None])
        return f, pulled.ravel()

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
