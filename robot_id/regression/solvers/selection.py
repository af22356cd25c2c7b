"""Essential parameters: backward elimination, guarded by an F-test against the full model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from robot_id.regression.solvers.least_squares import Constraint, Solution, solve

Array = NDArray[np.float64]


def eliminate(
    R: Array,
    rows: int,
    names: Sequence[str],
    full: Solution,
    level: float = 0.95,
    inflation: float = 1.0,
    constraint: Constraint | None = None,
) -> tuple[Solution, list[str]]:
    """
    Remove the parameter with the largest percent deviation while the error does not grow.

    After k removals F = (RSS_k - RSS) / (k s^2) must stay below the quantile `level` of
    F(k, r - b); the first removal that breaks it is undone and ends the search.

    :param R: (b + 1, b + 1) factor of [W Y].
    :param rows: number r of equations.
    :param names: the b parameter names.
    :param full: the solution with all parameters.
    :param level: quantile of the F distribution.
    :param inflation: variance inflation of the residual's autocorrelation (>= 1): r rows that
        repeat each other carry the information of r / inflation, so F is divided by it.
    :param constraint: constraint on every solution.
    :return: the reduced solution and the names in the order of their removal.
    """
    best = full
    removed: list[str] = []
    freedom = max(full.freedom / inflation, 1.0)
    scale = full.variance * inflation
    while best.kept.sum() > 1:
        with np.errstate(divide='ignore', invalid='ignore'):
            percent = np.sqrt(np.diag(best.covariance)) / np.abs(best.chi)
        worst = int(np.argmax(np.where(best.kept, percent, -np.inf)))
        kept = best.kept.copy()
        kept[worst] = False
        candidate = solve(R, rows, names, kept, constraint)
        count = len(removed) + 1
        growth = candidate.residual_norm**2 - full.residual_norm**2
        if growth > count * scale * fdtri(count, freedom, level):
            break
        best = candidate
        removed.append(names[worst])
    return best, removed
