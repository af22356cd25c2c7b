"""The one place where a Result is assembled from what a method found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id import options
from robot_id.data.dataset import Dataset
from robot_id.methods.consistency import Consistent, with_standard
from robot_id.methods.result import Iteration, Result
from robot_id.regression.consistency import Fitter
from robot_id.regression.preprocessing.options import ResolvedOptions
from robot_id.regression.rows.prediction import Prediction, relative_error_percent
from robot_id.robot import Robot
from robot_id.robot.parameters.units import units_of

Array = NDArray[np.float64]
Deviations = Literal['robust', 'bootstrap', 'classical']
# Deviations on either side that hold 95 % of a normal distribution.
INTERVAL = 1.96
# An estimate of a filter that leaves this share of the torque unexplained is useless.
UNEXPLAINED_PERCENT = 50.0


@dataclass(frozen=True)
class Outcome:
    """
    What a method found, before it becomes a Result.

    :param chi: (b,) estimates.
    :param covariance: (b, b).
    :param condition_number: of the matrix that was solved.
    :param kept: (b,) parameters that were kept; None when no selection was made.
    :param residuals: for each joint (r_j,) its own residual, where it is not that of the
        prediction along the measured motion.
    :param torques: (n,) norms ||Y_j| the residuals belong to.
    :param iterations: how many it took.
    :param simulations: closed-loop simulations that were run.
    :param history: the iterations.
    :param converged: whether they converged.
    :param must_explain: an estimate that leaves half of the torques has not converged either.
    :param options: what was derived, over the options of the method.
    :param warnings: one line each.
    :param extras: values of this method only.
    :param free: (b,) estimate before it was confined to physically consistent robots, where a
        method did that.
    :param consistent: the physically consistent robot that chi belongs to.
    """

    chi: Array
    covariance: Array
    condition_number: float = float('nan')
    kept: NDArray[np.bool_] | None = None
    residuals: list[Array] | None = None
    torques: Array | None = None
    iterations: int = 1
    simulations: int = 0
    history: tuple[Iteration, ...] = ()
    converged: bool = True
    must_explain: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    free: Array | None = None
    consistent: Consistent | None = None


def confined(found: Outcome, robot: Robot, fitter: Fitter | None = None) -> Outcome:
    """Return an outcome with the nearest physically consistent parameters."""
    chi = found.chi if found.free is None else found.free
    fit = (fitter or Fitter(robot)).project(chi, found.covariance)
    return replace(found, chi=fit.chi, consistent=Consistent(fit, chi, found.covariance))


def _with_doubt(method: Any, derived: ResolvedOptions, found: Outcome) -> Outcome:
    """Return an outcome whose deviations count the doubt about the law of friction."""
    doubt = derived.law_doubt
    if doubt is None or getattr(method, 'deviations', 'classical') == 'classical':
        return found
    consistent = found.consistent and replace(found.consistent, doubt=doubt)
    return replace(found, covariance=found.covariance + doubt, consistent=consistent)


def essential(found: Outcome) -> NDArray[np.bool_]:
    """(b,) parameters that a selection kept; without one, whose 95 % interval leaves out zero."""
    if found.kept is not None and not found.kept.all():
        return found.kept
    deviation = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    return np.asarray(np.abs(found.chi) > INTERVAL * deviation)


def assemble(
    method: Any,
    robot: Robot,
    dataset: Dataset,
    derived: ResolvedOptions,
    found: Outcome,
    prediction: Prediction,
    started: float,
) -> Result:
    """
    Return the Result of a method.

    :param method: the dataclass of its options.
    :param dataset: what it was given, columns in the order of the robot's joints.
    :param derived: the processing of these data, with the reasons for what was derived.
    :param prediction: torques that chi predicts along the measured motion.
    :param started: time.perf_counter() when the work began.
    """
    rho, norms = prediction.residual_norms(), prediction.torque_norms()
    if found.residuals is not None and found.torques is not None:
        rho = np.array([np.linalg.norm(residual) for residual in found.residuals])
        norms = found.torques
    error = relative_error_percent(rho, norms)
    converged, warnings = found.converged, found.warnings
    if not converged:
        warnings += (f'{method.name} has not converged after {found.iterations} iterations',)
    if found.must_explain and not error < UNEXPLAINED_PERCENT:
        converged = False
        warnings += (f'the torques are not explained (relative error {error:.3g} %): do not use',)
    found = _with_doubt(method, derived, found)
    result = Result(
        robot=robot.name,
        method=method.name,
        names=tuple(robot.base.names),
        values=found.chi,
        covariance=found.covariance,
        essential=essential(found),
        relative_error_percent=error,
        relative_error_percent_per_joint=100.0 * rho / np.where(norms > 0.0, norms, np.nan),
        condition_number=found.condition_number,
        iterations=found.iterations,
        simulations=found.simulations,
        elapsed_s=time.perf_counter() - started,
        converged=converged,
        history=found.history,
        options=options.to_dict(method) | options.to_dict(derived.processing) | found.options,
        warnings=warnings,
        extras={
            'rate_hz': dataset.rate,
            'processing': derived.describe(dataset.rate),
            'data_notes': list(dataset.notes),
            **found.extras,
        },
        units=units_of(robot),
        robot_file=None if robot.source is None else robot.source.as_dict(),
        prediction=prediction,
    )
    return result if found.consistent is None else with_standard(robot, result, found.consistent)
