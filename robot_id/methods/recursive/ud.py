"""
Covariances as P = U D U' (Bierman 1977): compiled updates that cannot lose positiveness.

U is unit upper triangular and d holds the diagonal of D. All kernels keep the transpose
`L = U'` (unit lower triangular, C-ordered, row j holds column j of U), so that every inner
loop runs over contiguous memory. They work in place and in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.kernel_cache import njit

Array = NDArray[np.float64]

# Sums may be reordered (vectorised); NaN and infinity keep their meaning.
KERNEL: dict[str, Any] = {
    'cache': True,
    'nogil': True,
    'error_model': 'numpy',
    'fastmath': {'reassoc', 'contract', 'nsz'},
}


def compose(L: Array, d: Array) -> Array:
    """Return P = U D U', (b, b)."""
    return (L.T * d) @ L


def factorise(P: Array) -> tuple[Array, Array]:
    """
    Return L = U' and d of a symmetric positive semi-definite matrix P = U D U'.

    A pivot that is zero to round-off gets d = 0 and an empty column of U; a negative one is
    refused.

    :param P: (b, b) covariance.
    """
    rest = np.array(P, dtype=float)
    b = rest.shape[0]
    # Each pivot against its own diagonal: parameters may differ by many powers of ten.
    tiny = np.finfo(float).eps * b * np.maximum(np.abs(np.diag(rest)), 1e-300)
    L, d = np.eye(b), np.zeros(b)
    for j in range(b - 1, -1, -1):
        pivot = rest[j, j]
        if pivot < -tiny[j]:
            raise IdentificationError(
                f'covariance is not positive semi-definite (pivot {pivot:.3g} in row {j})'
            )
        if pivot <= tiny[j]:
            continue
        d[j] = pivot
        L[j, :j] = rest[:j, j] / pivot
        rest[:j, :j] -= pivot * np.outer(L[j, :j], L[j, :j])
    return L, d


def from_information(R: Array) -> tuple[Array, Array]:
    """
    Return L = U' and d of P = (R'R)^-1 from the upper triangular R, with no product R'R.

    R^-1 is upper triangular, so U = R^-1 diag(R) and d = 1 / diag(R)^2.
    """
    pivots = np.diag(R).copy()
    unit = R / pivots[:, None]
    L = np.ascontiguousarray(_inverse_unit_upper(unit).T)
    return L, pivots**-2.0


@njit(**KERNEL)
def _inverse_unit_upper(R: Array) -> Array:
    b = R.shape[0]
    X = np.eye(b)
    for i in range(b - 2, -1, -1):
        for k in range(i + 1, b):
            factor = R[i, k]
            if factor != 0.0:
                for j in range(k, b):
                    X[i, j] -= factor * X[k, j]
    return X


@njit(**KERNEL)
def observe(x: Array, L: Array, d: Array, h: Array, y: float, r: float, gain: Array) -> float:
    """
    Bierman's update with one scalar observation y = h'x + e, var(e) = r > 0.

    :param x: (b,) estimate, updated.
    :param L: (b, b) transpose of U, updated.
    :param d: (b,) diagonal of D, updated.
    :param h: (b,) observation row.
    :param y: the observation.
    :param r: its variance.
    :param gain: (b,) work space, holds the unnormalised gain P h on return.
    :return: the squared innovation divided by its variance.
    """
    b = x.shape[0]
    innovation = y
    for i in range(b):
        innovation -= h[i] * x[i]
        gain[i] = 0.0
    alpha = r
    for j in range(b):
        f = h[j]
        for i in range(j):
            f += L[j, i] * h[i]
        v = d[j] * f
        if v == 0.0:
            continue
        before = alpha
        alpha += f * v
        d[j] *= before / alpha
        slope = -f / before
        gain[j] = v
        for i in range(j):
            old = L[j, i]
            L[j, i] = old + slope * gain[i]
            gain[i] += old * v
    step = innovation / alpha
    for i in range(b):
        x[i] += step * gain[i]
    return innovation * step


@njit(**KERNEL)
def observe_rows(x: Array, L: Array, d: Array, H: Array, y: Array, forgetting: float) -> float:
    """
    Fold the m rows of one sample into the estimate, unit variances, after forgetting.

    P is divided by `forgetting` once, then each row is one Bierman update. The sum of the
    normalised squared innovations is what the least-squares criterion grows by.

    :param H: (m, b) rows; a row of zeros changes nothing.
    :param y: (m,) observations.
    """
    if forgetting != 1.0:
        d /= forgetting
    gain = np.empty(x.shape[0])
    total = 0.0
    for k in range(H.shape[0]):
        total += observe(x, L, d, H[k], y[k], 1.0, gain)
    return total


@njit(**KERNEL)
def trace(L: Array, d: Array) -> float:
    """Return the trace of P = U D U'."""
    total = 0.0
    for j in range(d.shape[0]):
        if d[j] != 0.0:
            column = 1.0
            for i in range(j):
                column += L[j, i] * L[j, i]
            total += d[j] * column
    return total


@njit(**KERNEL)
def observe_rows_constant_trace(
    x: Array, L: Array, d: Array, H: Array, y: Array, target: float, lowest: float
) -> tuple[float, float]:
    """
    Fold rows with the forgetting that holds trace(P) at its target (Sripada and Fisher 1987).

    Per row: lambda = 1 - ((1 + r) - sqrt((1 + r)^2 - 4 |P h|^2 / C)) / 2 with r = h'P h makes
    trace((P - P h h'P / (lambda + r)) / lambda) = trace(P) = C. While the trace is above the
    target nothing is forgotten.

    :param target: C, the trace to hold.
    :param lowest: bound below which lambda never falls.
    :return: sum of normalised squared innovations, product of the forgetting factors.
    """
    b = x.shape[0]
    gain = np.empty(b)
    v = np.empty(b)
    total = 0.0
    product = 1.0
    for k in range(H.shape[0]):
        h = H[k]
        now = trace(L, d)
        forgetting = 1.0
        if now <= target * (1.0 + 1e-9):
            spread = 0.0
            for j in range(b):
                f = h[j]
                for i in range(j):
                    f += L[j, i] * h[i]
                v[j] = d[j] * f
                spread += f * v[j]
                gain[j] = 0.0
            for j in range(b):
                if v[j] != 0.0:
                    gain[j] += v[j]
                    for i in range(j):
                        gain[i] += L[j, i] * v[j]
            norm = 0.0
            for j in range(b):
                norm += gain[j] * gain[j]
            # trace(P+) = target: lambda^2 C + lambda (r C - t) - r t + |P h|^2 = 0, t = trace(P)
            p = spread - now / target
            q = (norm - spread * now) / target
            forgetting = 0.5 * (-p + np.sqrt(max(p * p - 4.0 * q, 0.0)))
            forgetting = min(max(forgetting, lowest), 1.0)
            if forgetting != 1.0:
                d /= forgetting
                total *= forgetting
                product *= forgetting
        total += observe(x, L, d, h, y[k], 1.0, gain)
    return total, product
