"""Loads that are none: the recordings are swapped, or the arm model has the load on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr

from robot_id.exceptions import DataError
from robot_id.tasks.payload.consistency import nearest_consistent, squared_distance

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# A value this many deviations below zero is not noise.
SURE = 3.0


def by_chance(determined: Flags) -> float:
    """Return the squared distance from a body that chance exceeds as rarely as 3 deviations."""
    return float(chdtri(max(int(determined.sum()), 1), 2.0 * ndtr(-SURE)))


def refuse_swapped(p: Array, covariance: Array, determined: Flags, strategy: str) -> None:
    """
    Refuse an inconsistent load: its mass is clearly below zero, or it is taken off.

    Parameters p that no body has are those of a load that was taken off where -p is nearer to a
    body than p.
    """
    deviation = float(np.sqrt(max(covariance[9, 9], 0.0)))
    negative = bool(determined[9]) and p[9] < -SURE * deviation
    if not negative:
        off = _distance(p, covariance, determined)
        if off <= by_chance(determined) or _distance(-p, covariance, determined) >= off:
            return
    what = f'{p[9]:.3g} kg' if determined[9] else 'a negative inertia'
    key, fix = 'unloaded', 'are the recordings with and without load swapped?'
    if strategy == 'known_arm':
        key, fix = 'arm', 'was the arm identified with the load on?'
    raise DataError(
        f'the load would be {what} (standard deviation {deviation:.2g}): {fix}',
        code='swapped',
        key=key,
        value=float(p[9]),
    )


def _distance(p: Array, covariance: Array, determined: Flags) -> float:
    """Return the squared distance of the nearest body, infinite where none is found."""
    try:
        body = nearest_consistent(p, covariance, determined)
    except np.linalg.LinAlgError:
        return float('inf')
    return squared_distance(p, body, covariance, determined)
