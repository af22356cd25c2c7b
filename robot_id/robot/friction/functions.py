"""
The functions that friction terms are made of, for numbers, arrays and symbolic scalars.

A friction term is written with these and with + - * / and abs(). The compiled kernels replace
them by machine code (see robot_id.dynamics.kernels.friction); a symbolic scalar has to bring the
methods `atan`, `exp` and `sign`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

TWO_OVER_PI = 2.0 / math.pi


def atan(x: Any) -> Any:
    """Return the arc tangent."""
    return np.arctan(x) if isinstance(x, (float, int, np.ndarray)) else x.atan()


def exp(x: Any) -> Any:
    """Return the exponential."""
    return np.exp(x) if isinstance(x, (float, int, np.ndarray)) else x.exp()


def sign(x: Any) -> Any:
    """Return -1, 0 or 1."""
    return np.sign(x) if isinstance(x, (float, int, np.ndarray)) else x.sign()


def positive(x: Any) -> Any:
    """Return max(x, 0)."""
    return 0.5 * (x + abs(x))


def negative(x: Any) -> Any:
    """Return min(x, 0)."""
    return 0.5 * (x - abs(x))


def above(x: Any) -> Any:
    """Return 1 where x > 0, else 0 (1/2 at zero)."""
    return 0.5 * (1.0 + sign(x))


def below(x: Any) -> Any:
    """Return 1 where x < 0, else 0 (1/2 at zero)."""
    return 0.5 * (1.0 - sign(x))


def smooth_sign(x: Any, slope: float) -> Any:
    """Return sign(x) for slope 0, else 2/pi atan(slope x)."""
    return TWO_OVER_PI * atan(slope * x) if slope > 0.0 else sign(x)


def smooth_sign_slope(x: Any, slope: float) -> Any:
    """Return the derivative of `smooth_sign` by x; that of sign(x) is zero."""
    return TWO_OVER_PI * slope / (1.0 + slope * slope * x * x)
