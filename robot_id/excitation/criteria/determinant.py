"""
D-optimality: det(Phi^T Phi)^(-1/2b), the volume of the ellipsoid in which the estimate lies.

Phi = W diag(chi_bar) is scaled per sample, so that the figure does not depend on how many there
are.
"""

from __future__ import annotations

import numpy as np

from robot_id.excitation.criteria.criterion import Criterion
from robot_id.trajectory.trajectory import Array


def log_determinant(singular: Array, power: float = 2.0) -> tuple[float, Array]:
    """Return -log det(Phi^T Phi) / 2b and its slope in the singular values (b,)."""
    s = np.maximum(singular, 1e-300)
    return float(-np.mean(np.log(s))), -1.0 / (len(s) * s)


def log_determinant_of_factor(R: Array, inverse: Array, power: float) -> tuple[float, Array]:
    """Return the same from R, and S = -(Phi^T Phi)^-1 / b so that the slope in Phi is Phi S."""
    return float(-np.mean(np.log(np.abs(np.diag(R))))), inverse @ inverse.T / -len(R)


def determinant(singular: Array, samples: int) -> float:
    """Return det(Phi^T Phi)^(-1/2b) of Phi per sample."""
    return float(np.exp(log_determinant(singular / np.sqrt(samples))[0]))


CRITERION = Criterion(
    name='determinant',
    label='D-optimality',
    key='determinant',
    weighted=True,
    figure=determinant,
    smooth=log_determinant,
    direct=log_determinant_of_factor,
)
