"""A physically consistent result, with the test of that constraint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError
from robot_id.methods.parameters import parameters_for
from robot_id.methods.result import Result
from robot_id.regression.consistency import Fitter, PhysicalFit
from robot_id.regression.consistency.constraints import not_negative
from robot_id.regression.consistency.fit import base_matrix, whitened
from robot_id.regression.consistency.test import judge
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Two-sided 95 % of a normal distribution.
_REACH = 1.959964
_MOMENTS = ('M', 'XX', 'YY', 'ZZ')


@dataclass(frozen=True)
class Consistent:
    """
    A physical fit with the estimate it belongs to.

    :param fit: the physically consistent robot.
    :param chi: (b,) the estimate without constraints.
    :param covariance: (b, b) of it, the metric of the fit.
    :param doubt: (b, b) what the law of friction adds to that covariance.
    """

    fit: PhysicalFit
    chi: Array
    covariance: Array
    doubt: Array | None = None


def project(robot: Robot, result: Result, fitter: Fitter | None = None) -> Result:
    """
    Return the result moved to the nearest physically consistent parameters.

    Its relative errors are left as they are: they belong to data that are not available here.

    :param fitter: of this robot, made if None.
    """
    chi = parameters_for(robot, result)
    order = [result.names.index(name) for name in robot.base.names]
    covariance = result.covariance[np.ix_(order, order)]
    fit = (fitter or Fitter(robot)).project(chi, covariance)
    return with_standard(robot, result, Consistent(fit, chi, covariance))


def with_standard(robot: Robot, result: Result, consistent: Consistent) -> Result:
    """Return a result with the values of a physical fit, its standard parameters and the test."""
    fit, chi, doubt = consistent.fit, consistent.chi, consistent.doubt
    stated = consistent.covariance if doubt is None else consistent.covariance + doubt
    verdict = judge(robot.base.names, chi, stated, fit.chi)
    bodies = robot.kinematics.body_names
    physical = verdict.to_dict() | {
        'smallest_eigenvalues': dict(zip(bodies, fit.smallest.tolist())),
        'prior': dict(zip(bodies, fit.prior.origin)),
        'unconstrained': chi.tolist(),
    }
    warnings = result.warnings
    if not verdict.consistent:
        warnings += (f'physical: {verdict.meaning}',)
    values = dict(zip(robot.base.names, fit.chi))
    return replace(
        result,
        values=np.array([values[name] for name in result.names]),
        standard_parameters=tuple(_standard(robot, consistent)),
        physical=physical,
        warnings=warnings,
    )


def standard_of(robot: Robot, result: Result) -> Array:
    """
    (s,) the standard parameters of a result, by name.

    :raises DataError: when the result has none, or those of another robot.
    """
    if result.standard_parameters is None:
        raise DataError('the result has no standard parameters: identify with physical=true')
    values = {p['name']: p['value'] for p in result.standard_parameters}
    missing = [name for name in robot.standard_names if name not in values]
    if missing:
        raise DataError(
            f"the standard parameters of '{result.robot}' do not fit robot '{robot.name}': "
            f"the file lacks '{missing[0]}'"
        )
    return np.array([float(values[name]) for name in robot.standard_names])


def _deviations(robot: Robot, consistent: Consistent) -> Array:
    """(s,) of the standard parameters: C_x, and J D J' with J = dx/dchi = C_x B' C^-1."""
    fit = consistent.fit
    variance = np.diag(fit.covariance)
    if consistent.doubt is not None:
        R, _ = whitened(consistent.chi, consistent.covariance)
        J = fit.covariance @ (R @ base_matrix(robot)).T @ R
        variance = variance + np.sum((J @ consistent.doubt) * J, axis=1)
    return np.sqrt(np.maximum(variance, 0.0))


def _standard(robot: Robot, consistent: Consistent) -> list[dict[str, Any]]:
    fit, std = consistent.fit, _deviations(robot, consistent)
    found = []
    for name, x, deviation, share in zip(robot.standard_names, fit.x, std, fit.data_share):
        lower, upper = x - _REACH * deviation, x + _REACH * deviation
        if name.rstrip('0123456789') in _MOMENTS or not_negative(name):
            # The part of a link without its direct rotor may itself fall below zero.
            lower = max(lower, min(x, 0.0))
        found.append(
            {
                'name': name,
                'value': float(x),
                'std': float(deviation),
                'interval': [float(lower), float(upper)],
                'data_share': float(share),
                'prior_share': float(1.0 - share),
            }
        )
    return found
