"""The seat of a possible robot in the linear methods: what it changes of their fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_id.estimation.physical import Possible
from robot_id.regression.covariance import joint_covariance
from robot_id.regression.least_squares import solve
from robot_id.regression.observation import Observation
from robot_id.regression.physical.constraint import Physical
from robot_id.regression.system import System

if TYPE_CHECKING:
    from robot_id.estimation.idim import Fit, Idim

Array = NDArray[np.float64]


def possible_fit(
    method: Idim,
    fit: Fit,
    observation: Observation,
    system: System,
    physical: Physical,
    inflation: Array,
) -> tuple[Fit, Possible]:
    """
    Return the fit with a possible robot, and that robot with the estimate it was nearest to.

    Deviations are those of the estimate without constraints. The test always takes them with
    the residual's autocorrelation, corrected or not.

    :param method: that made the fit.
    :param inflation: (n,) variance inflation by the autocorrelation of each joint's residual.
    """
    factors, solution = system.factors, fit.solution
    if not method.linear:
        fit = method.state_deviations(fit, observation, system)
        found = physical.fitter.project(solution.chi, fit.solution.covariance)
        possible = Possible(found, solution.chi, fit.solution.covariance)
        return replace(fit, solution=replace(fit.solution, chi=found.chi)), possible
    free = solve(fit.R, system.rows, factors.names, system.kept)
    fit = replace(fit, solution=replace(solution, chi=free.chi))
    fit = method.state_deviations(fit, observation, system)
    covariance = fit.solution.covariance
    if method.deviations == 'classical' and fit.weights is not None and fit.noise is not None:
        noise = fit.noise * np.sqrt(inflation)
        covariance = joint_covariance(factors, solution.kept, fit.weights, noise)
    found = physical.fitter.project(free.chi, covariance)
    possible = Possible(found, free.chi, covariance)
    return replace(fit, solution=replace(fit.solution, chi=found.chi)), possible
