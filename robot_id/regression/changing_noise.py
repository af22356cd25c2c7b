"""
Covariance of scores where the noise changes along the motion.

The position of a closed loop is the example: a loop takes slow noise away, but not while friction
holds a joint that turns. No spectrum of the whole run describes such noise, however it is
smoothed, and the deviations of friction, which little of it reaches, become up to three times too
wide. The scores of neighbouring rows (`sandwich`) need nothing but a window that is long enough:
of T rows it takes what the noise does within 1 / T of any frequency, and noise above all slopes
should not be in it. With a share w of the frequencies the slopes fill N rows hold what w N rows
would, so the reach of those is taken, in the rows that there are.

How much the scores count beside the spectrum, the data tell: the two differ by chance, by 2 / nu
in the mean square of their logarithm with nu degrees of freedom of the scores, and beyond that
because the noise is not stationary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from robot_id.regression import sandwich

Array = NDArray[np.float64]
# Share of the energy of the slopes that lies in their band.
IN_BAND = 0.99
# Degrees of freedom of Parzen's window over rows per reach.
PARZEN_FREEDOM = 3.7
# The reach is at most this part of the rows.
LARGEST_PART = 0.25


def changing_score_covariance(Z: Sequence[Array], residual: Sequence[Array]) -> Array:
    """
    Return (b, b) cov(Z' rho) of scores; arguments as those of `score_covariance`.

    The share of the scores is r / (r + 60 g) with r rows for each parameter, where g <= 1 is what
    chance explains of the difference; g = 1 where noise is stationary.
    """
    rows = sum(len(part) for part in residual)
    if rows > sandwich.LONG:
        return sandwich.score_covariance(Z, residual)
    b = Z[0].shape[2]
    near, spectral, freedom, stationary = np.zeros((b, b)), np.zeros((b, b)), 0.0, 0.0
    for z, rho in zip(Z, residual):
        reach = reach_of(z)
        near += sandwich.neighbour_sum(z, rho, reach)
        spectral += sandwich.spectral_sum(z, rho)
        freedom += PARZEN_FREEDOM * len(rho) / reach
        stationary += sandwich.spectral_freedom(len(rho))
    tiny = np.finfo(float).tiny
    ratio = np.maximum(np.diag(near), tiny) / np.maximum(np.diag(spectral), tiny)
    differ = float(np.mean(np.log(ratio) ** 2))
    chance = min(1.0, 2.0 / freedom / max(differ, tiny))
    share = rows / (rows + b * sandwich.HALF_SHARE * chance)
    mixed = 1.0 / (share / freedom + (1.0 - share) / stationary)
    total = share * near + (1.0 - share) * spectral
    return total * (stdtrit(mixed, 0.975) / ndtri(0.975)) ** 2


def reach_of(Z: Array) -> int:
    """Return how many neighbours of a row count for slopes Z (M, n, b), slow as they are."""
    energy = np.sum(np.abs(scipy.fft.rfft(Z, axis=0)) ** 2, axis=(1, 2))
    inside = np.cumsum(energy) / max(float(energy.sum()), np.finfo(float).tiny)
    band = (int(np.searchsorted(inside, IN_BAND)) + 1) / len(energy)
    reach = sandwich.REACH_PER_ROOT * float(np.cbrt(len(Z))) * min(band, 1.0) ** (-2.0 / 3.0)
    return max(round(min(reach, LARGEST_PART * len(Z))), 1)
