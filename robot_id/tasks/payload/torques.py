"""The torques that a load adds: what the rest of the model leaves, and what the load explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.payload.strategies import Fit

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LoadTorques:
    """
    Torques of a load, NaN where a joint does not feel it.

    :param measured: (M, n) y - A_r x_r, with the unknowns x_r of everything but the load.
    :param predicted: (M, n) A_l x_l, with those of the load.
    """

    measured: Array
    predicted: Array


def load_torques(fit: Fit, part: slice) -> LoadTorques:
    """
    Return the torques of one load of a fit.

    :param part: its ten unknowns.
    """
    measured: list[Array] = []
    predicted: list[Array] = []
    x = fit.solution.x
    for A, y in zip(fit.A, fit.y):
        felt = np.any(A[:, :, part] != 0.0, axis=2)
        own = A[:, :, part] @ x[part]
        for found, values in ((measured, y - A @ x + own), (predicted, own)):
            weighted = np.where(felt, values, np.nan)[felt.any(axis=1)]
            found.append(weighted / fit.weights)
    return LoadTorques(np.concatenate(measured), np.concatenate(predicted))
