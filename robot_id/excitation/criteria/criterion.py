"""A criterion: a function of the singular values that is small for an exciting motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from robot_id.trajectory.trajectory import Array

Smooth = Callable[[Array, float], tuple[float, Array]]


@dataclass(frozen=True)
class Criterion:
    """
    A measure of how exciting a motion is.

    :param name: in commands and options.
    :param label: in tables.
    :param key: of its figure in JSON files.
    :param weighted: of Phi = W diag(chi_bar) instead of W.
    :param figure: (singular values in descending order, samples) -> the value to minimise.
    :param smooth: (singular values, power) -> a smooth logarithm of it and its slope in them; a
        larger power is sharper.
    :param direct: (R, R^-1, power) -> the same logarithm and S, see `of_factor`, without singular
        values, several times faster; None where it has no such form at this power.
    """

    name: str
    label: str
    key: str
    weighted: bool
    figure: Callable[[Array, int], float]
    smooth: Smooth
    direct: Callable[[Array, Array, float], tuple[float, Array] | None]

    def of_factor(self, R: Array, power: float) -> tuple[float, Array]:
        """
        Return the smooth logarithm f, and S (p, p) so that its slope in Phi is Phi S.

        :param R: (p, p) upper triangular factor of Phi: R^T R = Phi^T Phi.
        :raises np.linalg.LinAlgError: for entries that are not finite.
        """
        inverse, info = lapack.dtrtri(R.T, lower=1)  # its columns stand as LAPACK wants them
        if info == 0:
            with np.errstate(all='ignore'):
                found = self.direct(R, inverse.T, power)
                if found is not None and np.isfinite(found[0] + np.sum(found[1])):
                    return found
        return by_singular_values(self.smooth, R, power)


def by_singular_values(smooth: Smooth, R: Array, power: float) -> tuple[float, Array]:
    """Return f and S of `of_factor` from R = U diag(s) V^T: S = V diag(slope / s) V^T."""
    _, singular, Vt = np.linalg.svd(R)
    value, slope = smooth(singular, power)
    return value, Vt.T * (slope / np.maximum(singular, 1e-300)) @ Vt
