"""Newton's method on the log-det form, in numpy: no other package is needed."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.physical.program import Program

Array = NDArray[np.float64]
_MOST = 400
# From one weight of the prior to the next on the way down to its own.
_RAMP = 0.08


def minimise(program: Program, start: Array | None = None) -> Array:
    """
    Return (k,) the minimiser.

    Without a start the prior begins as heavy as the data and is made lighter step by step (path
    following), which keeps every Newton step in the region where it converges fast.

    :param start: (k,) a point strictly inside, near the minimum.
    """
    v = np.zeros(program.A.shape[1]) if start is None else start
    gram = 2.0 * program.A.T @ program.A  # of the Hessian only: the gradient is never formed by it
    t = 1.0
    if start is None:
        rho = np.sum((program.A @ v - program.b) ** 2)
        weight = float(program.w.sum() + program.u.sum())
        t = max(1.0, rho / max(weight, 1e-12))
    for _ in range(_MOST):
        step, decrement = _step(program, gram, v, t)
        smallest = t * min(program.w.min(initial=np.inf), program.u.min(initial=np.inf))
        v, moved = _search(program, v, step, t, decrement)
        close = decrement < 0.5 * smallest or not moved
        if t == 1.0 and (decrement < 1e-9 * smallest or not moved):
            return v
        if close:
            t = max(1.0, _RAMP * t)
    raise IdentificationError('the physical parameters were not found: Newton did not converge')


def _step(program: Program, gram: Array, v: Array, t: float) -> tuple[Array, float]:
    """Return the Newton step and its decrement g' H^-1 g."""
    gradient, hessian = program.prior_slopes(v)
    gradient = t * gradient + 2.0 * program.A.T @ (program.A @ v - program.b)
    hessian = t * hessian + gram
    scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    hessian *= scale[:, None] * scale
    hessian.flat[:: len(scale) + 1] += 1e-14
    factor = sl.cho_factor(hessian, check_finite=False)
    step = -scale * sl.cho_solve(factor, scale * gradient, check_finite=False)
    return step, float(-gradient @ step)


def _search(
    program: Program, v: Array, step: Array, t: float, decrement: float
) -> tuple[Array, bool]:
    """Return the next point; False when no step lowers the objective any more."""
    length = min(1.0, 0.9 * program.stretch(v, step))
    now = program.value(v, t)
    for _ in range(40):
        trial = v + length * step
        if program.value(trial, t) <= now - 1e-4 * length * decrement:
            return trial, True
        length *= 0.5
    return v, False
