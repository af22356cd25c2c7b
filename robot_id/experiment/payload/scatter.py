"""
The deviations of a body that must be possible.

The nearest possible body scatters less than the fit behind it: what a body cannot have is cut off.
How much less is found by drawing fits around the body, with the covariance of the fit, and taking
the nearest body of each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robot_id.experiment.payload.possible import nearest_bodies
from robot_id.regression.physical.pseudo_inertia import pseudo_inertia

Array = NDArray[np.float64]
DRAWS, SEED = 200, 0


def possible_draws(body: Array, covariance: Array, determined: NDArray[np.bool_]) -> Array | None:
    """
    Return (DRAWS, 10) bodies as repeated fits would give them; None if all fits are possible.

    :param body: (10,) a possible one.
    :param covariance: (10, 10) of the fit, before it was made possible.
    """
    draws = body + _normal() @ _root(covariance, determined).T
    impossible = np.linalg.eigvalsh(pseudo_inertia(draws))[:, 0] < 0.0
    if not impossible.any() or not determined.any():
        return None
    draws[impossible] = nearest_bodies(draws[impossible], covariance, determined)
    return draws


def scatter(
    body: Array, draws: Array | None, linear: Array, function: Callable[[Array], Array]
) -> Array:
    """
    Return the deviations of a function of the ten parameters of a body.

    :param draws: see `possible_draws`.
    :param linear: (k,) deviations without regard to what is possible; not exceeded.
    :param function: (10,) -> (k,).
    """
    if draws is None:
        return linear
    with np.errstate(all='ignore'):
        off = np.array([function(row) for row in draws]) - function(body)
        found = np.sqrt(np.mean(off**2, axis=0))
    return np.where(found < linear, found, linear)


def _normal() -> Array:
    """(DRAWS, 10) normal numbers in pairs of opposite sign, with mean 0 and covariance 1."""
    half = np.random.default_rng(SEED).standard_normal((DRAWS // 2, 10))
    values, vectors = np.linalg.eigh(half.T @ half / len(half))
    half = half @ vectors / np.sqrt(values) @ vectors.T
    return np.concatenate([half, -half])


def _root(covariance: Array, determined: NDArray[np.bool_]) -> Array:
    """(10, 10) R with R R' the covariance of what is determined."""
    C = np.where(np.outer(determined, determined), covariance, 0.0)
    unit = np.sqrt(np.maximum(np.diag(C), 1e-300))
    values, vectors = np.linalg.eigh(C / np.outer(unit, unit))
    return np.asarray(unit[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
