"""Newton's method on the log-det form, in numpy: no other package is needed."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.consistency.program import Program

Array = NDArray[np.float64]
# Steps at the last weight of the prior, at one on the way to it, and at all of them.
_MOST, _MOST_ON_THE_WAY, _MOST_IN_ALL = 600, 25, 6000
# From one weight of the prior to the next: at first, and where it is never made shorter again.
_RAMP, _GENTLEST = 0.1, 0.97
_MARGIN = 1.1
_STUCK = 'the physical parameters were not found: Newton is stuck'


def minimise(program: Program, start: Array | None = None) -> Array:
    """
    Return (k,) the minimiser.

    Without a start the prior begins as heavy as the data and is made lighter step by step (path
    following), which keeps the Newton steps in the region where they converge fast. Where they do
    not, the path goes back to the last weight and on by a smaller step.

    :param start: (k,) a point strictly inside, near the minimum.
    """
    v = np.zeros(program.A.shape[1]) if start is None else start
    gram = 2.0 * program.A.T @ program.A  # of the Hessian only, never of the gradient
    smallest = min(program.w.min(initial=np.inf), program.u.min(initial=np.inf))
    t, ramp, total = 1.0, _RAMP, 0
    if start is None:
        rho = float(np.sum((program.A @ v - program.b) ** 2))
        t = max(1.0, rho / float(program.w.sum() + program.u.sum()))
    centre, weight = v, np.inf
    while True:
        goal = 1e-8 * smallest if t == 1.0 else 0.5 * t * smallest
        patient = ramp > _GENTLEST or not np.isfinite(weight)
        most = _MOST if patient else _MOST_ON_THE_WAY
        v, decrement, spent = _centred(program, gram, centre, t, goal, most)
        total += spent
        near = decrement < max(goal, 0.5 * t * smallest)
        if not near and not patient and total < _MOST_IN_ALL:
            ramp = ramp**0.5
            t = max(1.0, ramp * weight)
            continue
        if t == 1.0:
            break
        centre, weight = v, t
        t = max(1.0, ramp * t)
    # Data far from any physically consistent robot leave a large objective, known to rounding
    # only.
    if not decrement <= max(1e-3, 1e-7 * abs(program.value(v))):
        raise IdentificationError(_STUCK)
    return v


def _centred(
    program: Program, gram: Array, v: Array, t: float, goal: float, most: int
) -> tuple[Array, float, int]:
    """Return where Newton's steps lead with one weight, the last decrement, and their number."""
    spent, near = 0, False
    while True:
        try:
            step, decrement = _step(program, gram, v, t)
        except np.linalg.LinAlgError as error:
            # Rounding has the last word at a boundary that very sharp data press against.
            raise IdentificationError(f'{_STUCK} ({error})') from error
        v, moved = _search(program, v, step, t, decrement)
        spent += 1
        near = near or decrement < 0.5 * t * float(program.w.min(initial=np.inf))
        if decrement < goal or not moved or spent >= (_MOST if near else most):
            return v, decrement, spent


def _step(program: Program, gram: Array, v: Array, t: float) -> tuple[Array, float]:
    """Return the Newton step and its decrement g' H^-1 g."""
    gradient, hessian = program.prior_slopes(v)
    gradient = t * gradient + 2.0 * program.A.T @ (program.A @ v - program.b)
    hessian = t * hessian + gram
    scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    hessian *= scale[:, None] * scale
    hessian.flat[:: len(scale) + 1] += 1e-14
    factor = sl.cho_factor(hessian, check_finite=False, overwrite_a=True)
    step = -scale * sl.cho_solve(factor, scale * gradient, check_finite=False)
    return step, float(-gradient @ step)


def _search(
    program: Program, v: Array, step: Array, t: float, decrement: float
) -> tuple[Array, bool]:
    """
    Return the next point; False when no step lowers the objective any more.

    It keeps a distance from the boundary, where a logarithm is too steep to come back from fast.
    """
    length = 1.0
    now = program.value(v, t)
    for _ in range(40):
        trial = v + length * step
        if (
            program.value(trial, t) <= now - 1e-4 * length * decrement
            and np.isfinite(program.value(v + _MARGIN * length * step))
        ):  # fmt: skip
            return trial, True
        length *= 0.5
    return v, False
