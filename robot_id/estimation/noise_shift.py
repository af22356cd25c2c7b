"""
What the noise of the positions does to an estimate that takes them as exact.

The same estimate is made from recordings with as much noise again, +u and -u. What is odd in u
cancels in their mean; what is left is the shift by one share of noise, to second order, and the
recording has one share of it (the first step of SIMEX, Cook and Stefanski 1994; as `regression/
attenuation` does for rows that are kept).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.regression.attenuation import LARGEST_PAIRS, noisier
from robot_id.regression.dead_band import position_noise

Array = NDArray[np.float64]
# Samples that the mean of the squared noise needs; short recordings take several pairs.
SAMPLES = 30000
# A shift below this share of its deviation is none.
NEGLIGIBLE = 0.05
# The shift by one share of noise is no longer small above this share of a parameter.
LARGEST_SHARE = 0.1


def shift_by_noise(
    dataset: Dataset, chi: Array, covariance: Array, solve: Callable[[Dataset], Array]
) -> Array | None:
    """
    Return (b,) the shift of an estimate.

    :param chi: (b,) the estimate.
    :param covariance: (b, b) of it.
    :param solve: gives the same estimate from another recording.
    :return: None where the first pair shows nothing, or a shift too large for second order.
    """
    std = position_noise(dataset)
    deviation = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    if not np.all(np.isfinite(deviation)):
        return None
    pairs = int(np.clip(np.ceil(SAMPLES / max(len(dataset), 1)), 1, LARGEST_PAIRS))
    moved = np.zeros_like(chi)
    for k in range(pairs):
        both = [solve(noisier(dataset, sign * std, k)) for sign in (1.0, -1.0)]
        moved += 0.5 * (both[0] + both[1]) - chi
        if k == 0 and np.all(np.abs(moved) < NEGLIGIBLE * deviation):
            return None
    shift = moved / pairs
    known = deviation < LARGEST_SHARE * np.abs(chi)
    if np.any(np.abs(shift[known]) > LARGEST_SHARE * np.abs(chi[known])):
        return None
    return np.asarray(shift)
