"""
What another estimate from the same data says of the bias of an estimate.

A simulated loop or a filter with its noise is a model beside that of the robot. Where it is wrong
the estimate is biased, and its residual does not show it. Least squares of the measured motion
needs neither. Both estimates see the same noise, so they differ by less than the deviation w of
the other one unless one of them is biased (Hausman 1978): what D = chi - other exceeds it by,
D^2 - w^2, belongs to the variance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def bias_covariance(chi: Array, other: Array, other_covariance: Array) -> Array:
    """
    Return the (b, b) covariance that the disagreement of two estimates adds to that of the first.

    :param other: (b,) another estimate from the same data, (b, b) its covariance.
    """
    D = np.nan_to_num(chi - other)
    variance = np.nan_to_num(np.diag(other_covariance), nan=np.inf)
    d = np.sign(D) * np.sqrt(np.maximum(D**2 - variance, 0.0))
    return np.outer(d, d)
