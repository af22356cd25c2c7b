"""The condition number of W: ratio of the worst to the best known combination."""

from __future__ import annotations

import numpy as np

from robot_id.excitation.criteria.criterion import Criterion
from robot_id.trajectory.trajectory import Array


def condition(singular: Array, samples: int = 0) -> float:
    """Return the condition number from singular values in descending order."""
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float('inf')


def smooth_log_condition(singular: Array, power: float) -> tuple[float, Array]:
    """
    Return log(||s||_p ||1/s||_p), which tends to log cond from above, and its slope in s (b,).

    power = 2 is the Frobenius condition number; singular values that cross do no harm.
    """
    logs = np.log(np.maximum(singular, 1e-300))
    value, slope = 0.0, np.zeros_like(logs)
    for sign in (1.0, -1.0):
        top = np.max(sign * logs)
        weight = np.exp(power * (sign * logs - top))
        value += top + np.log(weight.sum()) / power
        slope += sign * weight / weight.sum() / np.exp(logs)
    return float(value), slope


CRITERION = Criterion(
    name='condition',
    label='cond(W)',
    text='cond(W)',
    key='condition_number',
    weighted=False,
    figure=condition,
    smooth=smooth_log_condition,
)
