"""The nearest physically possible body."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from robot_id.regression.physical.pseudo_inertia import inertial_row, pseudo_inertia

Array = NDArray[np.float64]
_LOWER = np.tril_indices(4)
# How softly what is not determined is held at a compact body of this size.
_WEAK, _SIZE = 1e-5, 0.1


def is_possible(p: Array) -> bool:
    """Whether a body with these ten parameters exists, within rounding."""
    values = np.linalg.eigvalsh(pseudo_inertia(p))
    return bool(values[0] >= -1e-12 * max(abs(values[-1]), 1e-12))


def nearest_possible(p: Array, covariance: Array, determined: NDArray[np.bool_]) -> Array:
    """
    Return the parameters of the body nearest to p in the metric of its covariance.

    min (x - p)' C^-1 (x - p) over x = pseudo-inertia L L', which is a body for every L. What the
    motion does not determine is free.

    :param p: (10,).
    :param covariance: (10, 10).
    :param determined: (10,) parameters that p and its covariance determine.
    """
    if is_possible(p) or not determined.any():
        return p
    known, free = np.flatnonzero(determined), np.flatnonzero(~determined)
    C = covariance[np.ix_(known, known)]
    unit = np.sqrt(np.maximum(np.diag(C), 1e-300))
    values, vectors = np.linalg.eigh(C / np.outer(unit, unit))
    weights = 1.0 / np.sqrt(np.maximum(values, 1e-10 * values[-1]))
    mass = max(abs(p[9]), 10.0 * unit.max()) if determined[9] else 1.0
    start = mass * np.diag([_SIZE**2] * 3 + [1.0])
    compact = inertial_row(start)
    size = mass * np.array([_SIZE**2] * 6 + [_SIZE] * 3 + [1.0])

    def body(lower: Array) -> Array:
        L = np.zeros((4, 4))
        L[_LOWER] = lower
        return np.asarray(inertial_row(L @ L.T))

    def distance(lower: Array) -> Array:
        x = body(lower)
        near = weights * (vectors.T @ ((x - p)[known] / unit))
        return np.concatenate([near, _WEAK * (x - compact)[free] / size[free]])

    found = scipy.optimize.least_squares(
        distance, np.linalg.cholesky(start)[_LOWER], x_scale='jac', max_nfev=1000
    )
    return body(found.x)
