"""
Bierman's update for instrumental variables: P = U D V' = (Z'W)^-1, not symmetric.

As in `ud`, the kernels keep the transposes `Lu = U'` and `Lv = V'` and work in place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]


@njit(**KERNEL)
def observe_instrument(
    x: Array,
    Lu: Array,
    Lv: Array,
    d: Array,
    h: Array,
    z: Array,
    y: float,
    gain: Array,
    dual: Array,
) -> bool:
    """
    Bierman's update carried over to instrumental variables: P = U D V' = (Z'W)^-1.

    P <- P - (P z)(h'P) / (1 + h'P z) and x <- x + P z (y - h'x) / (1 + h'P z). With z = h it is
    the ordinary update. P is not symmetric, so a partial sum 1 + ... may vanish: such a row is
    left out. (Over 60 lines: one pass over the columns, whose scalars the second loop needs.)

    :param Lu: (b, b) transpose of U, updated.
    :param Lv: (b, b) transpose of V, updated.
    :param h: (b,) row of W.
    :param z: (b,) row of the instruments Z.
    :param gain: (b,) work space.
    :param dual: (b,) work space.
    :return: False when the row was left out.
    """
    b = x.shape[0]
    alpha = 1.0
    size = 1.0
    innovation = y
    for j in range(b):
        c = h[j]
        e = z[j]
        for i in range(j):
            c += Lu[j, i] * h[i]
            e += Lv[j, i] * z[i]
        gain[j] = c
        dual[j] = e
        term = c * d[j] * e
        alpha += term
        size += abs(term)
        innovation -= h[j] * x[j]
        if abs(alpha) < 1e-6 * size:
            return False
    alpha = 1.0
    for j in range(b):
        c = gain[j]
        e = dual[j]
        v = d[j] * e
        w = d[j] * c
        before = alpha
        alpha += c * v
        d[j] *= before / alpha
        slope = -c / before
        dual_slope = -e / before
        gain[j] = v
        dual[j] = w
        for i in range(j):
            old = Lu[j, i]
            Lu[j, i] = old + slope * gain[i]
            gain[i] += old * v
            old = Lv[j, i]
            Lv[j, i] = old + dual_slope * dual[i]
            dual[i] += old * w
    step = innovation / alpha
    for i in range(b):
        x[i] += step * gain[i]
    return True


@njit(**KERNEL)
def observe_instrument_rows(
    x: Array, Lu: Array, Lv: Array, d: Array, H: Array, Z: Array, y: Array, forgetting: float
) -> int:
    """Fold the rows of one sample, after forgetting; return how many rows were left out."""
    d /= forgetting
    gain = np.empty(x.shape[0])
    dual = np.empty(x.shape[0])
    left_out = 0
    for k in range(H.shape[0]):
        if not observe_instrument(x, Lu, Lv, d, H[k], Z[k], y[k], gain, dual):
            left_out += 1
    return left_out
