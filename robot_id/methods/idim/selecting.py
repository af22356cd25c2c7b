"""
IDIM methods that can select essential parameters.

The selection is a backward elimination, guarded by an F-test against the full model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from robot_id.exceptions import OptionError
from robot_id.methods.idim.common import Fit, Idim
from robot_id.ranges import Range
from robot_id.regression.rows.prediction import relative_error_percent
from robot_id.regression.solvers.least_squares import Constraint, Solution, solve
from robot_id.regression.solvers.system import System
from robot_id.regression.uncertainty.residuals import Whiteness
from robot_id.regression.uncertainty.standard_errors import joint_covariance

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


@dataclass(frozen=True)
class SelectingIdim(Idim):
    """
    Options of the methods that can select essential parameters.

    :param essential: keep only the essential parameters (backward elimination with an F-test);
        otherwise that model is given beside the full one, with both errors.
    :param f_level: quantile of the F distribution that the growth of the error may reach.
    :param correlated: when residuals are autocorrelated, warn only, or correct the deviations too.
    """

    essential: bool = False
    f_level: Annotated[float, Range(1e-6, 1.0 - 1e-9)] = 0.95
    correlated: Literal['warn', 'correct'] = 'warn'

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.essential and self.physical:
            raise OptionError(
                'physical cannot be combined with essential=true, which sets parameters to zero'
            )

    def finish(self, fit: Fit, system: System, inflation: Array) -> Fit:
        """Eliminate parameters while the F-test allows it; covariance from each joint's noise."""
        solution, extras = fit.solution, fit.extras
        if system.constraint is None:
            reduced, removed = eliminate(
                fit.R, system.rows, system.factors.names, solution, self.f_level,
                float(inflation.max()),
            )  # fmt: skip
            if self.essential:
                solution, extras = reduced, extras | {'removed': removed}
            else:
                beside = _beside(system, reduced, solution, removed)
                extras = extras | {'reduced': beside}
        if fit.weights is not None and fit.noise is not None:
            wider = np.sqrt(inflation) if self.correlated == 'correct' else 1.0
            covariance = joint_covariance(
                system.factors, solution.kept, fit.weights, fit.noise * wider
            )
            solution = replace(solution, covariance=covariance)
        return replace(fit, solution=solution, extras=extras)

    def whiteness_warnings(
        self, judged: list[Whiteness], joint_names: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return no warning where the deviations are corrected."""
        return (
            () if self.correlated == 'correct' else super().whiteness_warnings(judged, joint_names)
        )


def _beside(
    system: System, reduced: Solution, full: Solution, removed: list[str]
) -> dict[str, Any]:
    """Return the model of essential parameters with its error and that of the full one."""
    factors = system.factors
    errors = [
        relative_error_percent(factors.residual_norms(found.chi), factors.torque_norms())
        for found in (reduced, full)
    ]
    return {
        'removed': removed,
        'values': {n: float(v) for n, v, k in zip(factors.names, reduced.chi, reduced.kept) if k},
        'relative_error_percent': errors[0],
        'full_relative_error_percent': errors[1],
    }
