"""The condition number of W: ratio of the worst to the best known combination."""

from __future__ import annotations

import numpy as np

from robot_id.excitation.criteria.criterion import Criterion
from robot_id.trajectory.trajectory import Array

# Powers of a matrix whose trace is one stay far above the smallest number.
_LARGEST = 64


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


def log_condition_of_factor(R: Array, inverse: Array, power: float) -> tuple[float, Array] | None:
    """
    Return the same for an even power p = 2h by products of matrices, with M = R^T R.

    ||s||_p^p is the trace of M^h, ||1/s||_p^p that of M^-h, and the slope in Phi is Phi S with
    S = M^(h-1) / trace(M^h) - M^-(h+1) / trace(M^-h). M^-1 is that of R^-1, so that the small
    singular values are as exact as R gives them.
    """
    h = round(0.5 * power)
    if not 1 <= h <= _LARGEST or 2.0 * h != power:
        return None
    M, K = R.T @ R, inverse @ inverse.T
    largest, smallest = np.trace(M), np.trace(K)  # scaled: a power of M must not overflow
    M, K = M / largest, K / smallest
    power_of_M, power_of_K = (np.linalg.matrix_power(A, e) for A, e in ((M, h - 1), (K, h)))
    traces = np.vdot(power_of_M, M), np.trace(power_of_K)
    value = 0.5 * np.log(largest * smallest) + (np.log(traces[0]) + np.log(traces[1])) / power
    S = power_of_M / (largest * traces[0]) - power_of_K @ K * (smallest / traces[1])
    return float(value), S


CRITERION = Criterion(
    name='condition',
    label='cond(W)',
    text='cond(W)',
    key='condition_number',
    weighted=False,
    figure=condition,
    smooth=smooth_log_condition,
    direct=log_condition_of_factor,
)
