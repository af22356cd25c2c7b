"""IDIM methods that can select essential parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import OptionError
from robot_id.methods.idim.common import Fit, Idim
from robot_id.ranges import Range
from robot_id.regression.rows.prediction import relative_error_percent
from robot_id.regression.solvers import selection
from robot_id.regression.solvers.least_squares import Solution
from robot_id.regression.solvers.system import System
from robot_id.regression.uncertainty.residuals import Whiteness
from robot_id.regression.uncertainty.standard_errors import joint_covariance

Array = NDArray[np.float64]


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
            reduced, removed = selection.eliminate(
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
