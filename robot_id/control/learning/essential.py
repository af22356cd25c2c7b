"""
Which parameters a window determines, and their values: the least squares of ILIC.

A parameter that the window does not determine keeps the value of the controller, and the others
are solved for with it: min ||(Y - W_h chi_h) - W_p chi_p||. So the new values are consistent with
the old ones, which matters on robots of several joints, where columns of W are correlated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.consistency import Fitter
from robot_id.regression.solvers.least_squares import Solution, condition_number, solve
from robot_id.regression.solvers.triangular import JointFactors, smallest_solution

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
WEIGHT_PASSES = 2
# No joint is trusted to better than this share of its own torque.
SMALLEST_RESIDUAL = 1e-4


@dataclass(frozen=True)
class WindowFit:
    """
    What a window determines.

    :param values: (b,) estimates where `passed`, else what the controller has.
    :param deviation: (b,) standard deviations; NaN where nothing was estimated.
    :param percent: (b,) 100 deviation / |value|; NaN where nothing was estimated.
    :param passed: (b,) parameters under sigma_max.
    :param excited: (b,) parameters that the motion determines at all.
    :param covariance: (b, b) of the passed parameters, NaN elsewhere.
    :param condition_number: of W with the passed columns, each scaled to norm 1.
    :param relative_error: (n,) percent, 100 ||Y_j - W_j chi|| / ||Y_j||.
    """

    values: Array
    deviation: Array
    percent: Array
    passed: Flags
    excited: Flags
    covariance: Array
    condition_number: float
    relative_error: Array


def consistent_window(fit: WindowFit, fitter: Fitter) -> WindowFit:
    """
    Return a fit whose values belong to a physically consistent robot, nearest to the estimate of
    the window.

    Parameters that were not passed keep their values to a thousandth.

    :param fitter: of the robot.
    :raises IdentificationError: where none is found.
    """
    held = 1e-3 * np.maximum(np.abs(fit.values), 1e-3 * np.abs(fit.values).max(initial=1e-12))
    covariance = np.diag(held**2)
    covariance[np.ix_(fit.passed, fit.passed)] = fit.covariance[np.ix_(fit.passed, fit.passed)]
    return replace(fit, values=fitter.project(fit.values, covariance).chi)


def without_joints(factors: JointFactors, still: Flags) -> JointFactors:
    """Return the factors without the equations of joints at rest, where friction is undefined."""
    return JointFactors(
        factors.names,
        factors.columns,
        tuple(R * 0.0 if rest else R for R, rest in zip(factors.R, still)),
        np.where(still, 0, factors.rows),
    )


def excited_parameters(R: Array, largest_condition: float) -> Flags:
    """
    (b,) parameters that no other combination of parameters can imitate.

    With the columns of W scaled to norm 1, a singular value below s_max / largest_condition is a
    direction that the motion does not determine; every parameter with a share in it keeps its
    value.
    """
    W = R[:, :-1]
    norms = np.linalg.norm(W, axis=0)
    determined = norms > 1e-9 * norms.max(initial=0.0)
    if not determined.any():
        return determined
    _, s, Vt = np.linalg.svd(W[:, determined] / norms[determined])
    lost = Vt[s < s[0] / largest_condition]
    determined[determined] = np.linalg.norm(lost, axis=0) < 0.1
    return determined


def residual_weights(factors: JointFactors) -> Array:
    """
    (n,) 1 / sigma_j, sigma_j the rms residual of joint j in the common solution; 0 without rows.

    From the common solution, not from each joint's own regression as in `idim_wls`: a short window
    may have fewer equations of one joint than parameters that act on it.
    """
    rms = factors.torque_norms() / np.sqrt(np.maximum(factors.rows, 1))
    live = rms > 0.0
    sigma = np.where(live, rms, 1.0)
    for _ in range(WEIGHT_PASSES):
        R = factors.stack(np.where(live, 1.0 / sigma, 0.0))
        residual = factors.residual_norms(smallest_solution(R)) / np.sqrt(
            np.maximum(factors.rows, 1)
        )
        sigma = np.where(live, np.maximum(residual, SMALLEST_RESIDUAL * rms), 1.0)
    return np.where(live, 1.0 / sigma, 0.0)


def fit_window(
    factors: JointFactors,
    current: Array,
    sigma_max: float,
    still: Flags,
    largest_condition: float,
) -> WindowFit:
    """
    Weigh the joints by their residuals, hold what is not determined, solve for the rest.

    The parameter with the largest percent deviation is held at its current value and the rest is
    solved again, until all are under sigma_max.
    """
    b = len(factors.names)
    moving = without_joints(factors, still)
    R = moving.stack(residual_weights(moving))
    rows = int(moving.rows.sum())
    excited = excited_parameters(R, largest_condition) if rows else np.zeros(b, bool)
    deviation, percent = np.full(b, np.nan), np.full(b, np.nan)
    passed, solution = excited.copy(), None
    while passed.any() and rows > passed.sum():
        solution = _solve_with_held(R, rows, factors.names, passed, current)
        own = np.sqrt(np.diag(solution.covariance))
        with np.errstate(divide='ignore'):
            share = 100.0 * own / np.abs(solution.chi)
        deviation[passed], percent[passed] = own[passed], share[passed]
        worst = int(np.argmax(np.where(passed, share, -np.inf)))
        if not share[worst] > sigma_max:
            break
        passed[worst] = False
    else:
        passed[:] = False
    values = current.copy()
    covariance = np.full((b, b), np.nan)
    condition = float('inf')
    if solution is not None and passed.any():
        values[passed] = solution.chi[passed]
        covariance = solution.covariance
        W = R[:, :-1][:, passed]
        condition = condition_number(W / np.linalg.norm(W, axis=0))
    torque = factors.torque_norms()
    error = 100.0 * factors.residual_norms(values) / np.where(torque > 0.0, torque, np.inf)
    return WindowFit(values, deviation, percent, passed, excited, covariance, condition, error)


def _solve_with_held(
    R: Array, rows: int, names: tuple[str, ...], free: Flags, current: Array
) -> Solution:
    shifted = R.copy()
    shifted[:, -1] -= R[:, :-1][:, ~free] @ current[~free]
    return solve(shifted, rows, names, free)
