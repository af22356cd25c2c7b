"""
The delay that a fit leaves between torque and motion.

A torque that is still delta late is Y(t) = tau(t - delta), so the residual holds -delta dY/dt as
far as no parameter has taken it up: delta = -sum(rho . dY/dt) / sum(dY/dt . dY/dt), each joint
divided by its own noise, is the least that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.rows.prediction import Prediction

Array = NDArray[np.float64]
# Shorter runs are not used.
FEWEST = 20


@dataclass(frozen=True)
class RemainingDelay:
    """
    The remaining offset.

    :param seconds: positive where the recorded torque is late.
    :param share: part of the power of the residual that it explains, 0 to 1.
    """

    seconds: float
    share: float


def remaining_delay(prediction: Prediction) -> RemainingDelay:
    """Return the offset between measured and predicted torques, zero if it is not determined."""
    n = len(prediction.joint_names)
    power, both, slopes = np.zeros(n), np.zeros(n), np.zeros(n)
    for run in prediction.runs:
        if len(run.time) < FEWEST:
            continue
        slope = np.gradient(run.measured, run.time, axis=0) * run.used
        residual = (run.measured - run.predicted) * run.used
        power += (residual**2).sum(axis=0)
        both += (residual * slope).sum(axis=0)
        slopes += (slope**2).sum(axis=0)
    known = (power > 0.0) & (slopes > 0.0)
    if not known.any():
        return RemainingDelay(0.0, 0.0)
    weighted, total = (both / power)[known].sum(), (slopes / power)[known].sum()
    return RemainingDelay(float(-weighted / total), float(weighted**2 / total / known.sum()))
