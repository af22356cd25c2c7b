"""The condition number of W: ratio of the worst to the best known combination."""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.excitation.criteria.criterion import Criterion
from robot_id.excitation.weighted_rows import ANY_ORDER
from robot_id.kernel_cache import njit
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


@njit(**ANY_ORDER)
def trace_of_product(A, B):
    """Return the trace of A B, both (p, p) symmetric."""
    summed = 0.0
    for i in range(len(A)):
        for k in range(len(A)):
            summed += A[i, k] * B[i, k]
    return summed


@njit(**ANY_ORDER)
def matrix_power(A, exponent):
    """Return A^exponent, (p, p)."""
    if exponent == 0:
        return np.eye(len(A))
    while exponent % 2 == 0:
        A = np.dot(A, A)
        exponent //= 2
    found = A
    exponent //= 2
    while exponent:
        A = np.dot(A, A)
        if exponent % 2:
            found = np.dot(found, A)
        exponent //= 2
    return found


@njit(**ANY_ORDER)
def log_condition(R, inverse, h, S):
    """Return the value of `log_condition_of_factor` for p = 2h and fill S."""
    M, K = np.dot(R.T, R), np.dot(inverse, inverse.T)
    largest, smallest = np.trace(M), np.trace(K)
    M /= largest  # a power must not overflow
    K /= smallest
    power = matrix_power(M, h - 1)
    low = matrix_power(K, h // 2)
    high = np.dot(low, K)
    other = high if h % 2 else low
    top, bottom = trace_of_product(power, M), trace_of_product(low, other)
    small = np.dot(other, high)
    for i in range(len(S)):
        for k in range(len(S)):
            S[i, k] = power[i, k] / (largest * top) - small[i, k] * (smallest / bottom)
    return 0.5 * (np.log(largest * smallest) + (np.log(top) + np.log(bottom)) / h)


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
    S = np.empty_like(R)
    return float(log_condition(R, inverse, h, S)), S


KERNELS['log_condition'] = Kernel(
    log_condition, lambda robot, chi, x: log_condition(np.eye(1), np.eye(1), 1, np.eye(1))
)
CRITERION = Criterion(
    name='condition',
    label='cond(W)',
    key='condition_number',
    weighted=False,
    figure=condition,
    smooth=smooth_log_condition,
    direct=log_condition_of_factor,
)
