"""The nearest physically consistent body."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.consistency.pseudo_inertia import inertial_row, pseudo_inertia

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# How softly what is not determined is held at a compact body of this size, m.
_WEAK, _SIZE = 1e-2, 0.1
# Smallest share of a correlation that counts.
_FLOOR = 1e-10
# The barrier ends at this weight: the squared distance is off by four times that at most.
_LAST_BARRIER, _SHRINK = 1e-8, 0.1
# Newton steps for one barrier, and the decrement at which it is near enough, at last.
_STEPS, _NEAR, _DECREMENT = 60, 0.3, 1e-3
# Share of the largest eigenvalue below which an eigenvalue of a pseudo-inertia is rounding.
_ROUNDING = 1e-16
_BASIS = pseudo_inertia(np.eye(10))


def is_consistent(p: Array) -> bool:
    """Whether a body with these ten parameters exists, within rounding."""
    values = np.linalg.eigvalsh(pseudo_inertia(p))
    return bool(values[0] >= -1e-12 * max(abs(values[-1]), 1e-12))


def nearest_consistent(p: Array, covariance: Array, determined: NDArray[np.bool_]) -> Array:
    """
    Return the parameters of the body nearest to p in the metric of its covariance.

    min (x - p)' C^-1 (x - p) over the x whose pseudo-inertia is positive semidefinite. What the
    motion does not determine is free.

    :param p: (10,).
    :param covariance: (10, 10).
    :param determined: (10,) parameters that p and its covariance determine.
    """
    if is_consistent(p) or not determined.any():
        return p
    return nearest_bodies(p[None], covariance, determined)[0]


def squared_distance(p: Array, body: Array, covariance: Array, determined: Flags) -> float:
    """Return (x - p)' C^-1 (x - p) of a body x, over what p determines."""
    known = np.flatnonzero(determined)
    if not len(known):
        return 0.0
    C = covariance[np.ix_(known, known)]
    unit = np.sqrt(np.maximum(np.diag(C), 1e-300))
    values, vectors = np.linalg.eigh(C / np.outer(unit, unit))
    z = vectors.T @ ((body - p)[known] / unit)
    return float(np.sum(z**2 / np.maximum(values, _FLOOR * values[-1])))


def nearest_bodies(p: Array, covariance: Array, determined: NDArray[np.bool_]) -> Array:
    """
    Return the bodies nearest to each of (K, 10) parameters, see `nearest_consistent`.

    The problem is convex: 1/2 |z|^2 - mu log det P(p + B z), B B' the covariance, is minimised by
    Newton steps for smaller and smaller mu, from a compact body on.
    """
    known, free = np.flatnonzero(determined), np.flatnonzero(~determined)
    C = covariance[np.ix_(known, known)]
    unit = np.sqrt(np.maximum(np.diag(C), 1e-300))
    mass = float(np.max(p[:, 9])) if determined[9] else 1.0
    mass = max(mass, float(unit[-1]) if determined[9] else 0.0)
    start = inertial_row(mass * np.diag([_SIZE**2] * 3 + [1.0]))
    centre = np.where(determined, p, start)
    values, vectors = np.linalg.eigh(C / np.outer(unit, unit))
    B = np.zeros((10, 10))
    roots = np.sqrt(np.maximum(values, _FLOOR * values[-1]))
    B[np.ix_(known, np.arange(len(known)))] = unit[:, None] * vectors * roots
    size = mass * np.array([_SIZE**2] * 6 + [_SIZE] * 3 + [1.0])
    B[free, len(known) + np.arange(len(free))] = size[free] / _WEAK
    z = np.linalg.solve(B, (start - centre).T).T
    E = np.einsum('ki,kab->iab', B, _BASIS)
    mu = float(np.max(np.sum(z**2, axis=1))) + 1.0
    while mu > _LAST_BARRIER:
        mu *= _SHRINK
        z = _centred(z, pseudo_inertia(centre), E, mu, _NEAR)
    return centre + _centred(z, pseudo_inertia(centre), E, mu, _DECREMENT) @ B.T


def _centred(z: Array, P0: Array, E: Array, mu: float, near: float) -> Array:
    """Return the minimum of 1/2 |z|^2 - mu log det(P0 + sum z_i E_i) for each row of z."""
    for _ in range(_STEPS):
        P = P0 + np.einsum('ki,iab->kab', z, E)
        values, vectors = np.linalg.eigh(P)
        W = vectors / np.sqrt(np.maximum(values, _ROUNDING * values[:, -1:]))[:, None]
        S = np.einsum('kai,lab,kbj->klij', W, E, W, optimize=True)
        gradient = z - mu * np.trace(S, axis1=2, axis2=3)
        step = -_newton(np.sqrt(mu) * S.reshape(len(z), 10, 16), gradient)
        decrement = np.sqrt(np.maximum(-np.sum(gradient * step, axis=1) / mu, 0.0))
        # Damped as for self-concordant functions: the step stays inside and never fails.
        z = z + step / (1.0 + decrement)[:, None]
        if np.max(decrement) < near:
            break
    return z


def _newton(A: Array, gradient: Array) -> Array:
    """Return (1 + A A')^-1 gradient by the QR of [1; A'], which is never singular."""
    unit = np.broadcast_to(np.eye(10), (len(A), 10, 10))
    stacked = np.concatenate([unit, A.swapaxes(1, 2)], axis=1)
    R: Array = np.asarray(np.linalg.qr(stacked, mode='r'))
    half = np.linalg.solve(R.swapaxes(1, 2), gradient[:, :, None])
    return np.asarray(np.linalg.solve(R, half)[:, :, 0])
