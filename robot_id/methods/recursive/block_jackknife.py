"""
Deviations of a recursive estimator from what each part of the recording says.

A filter states the deviations that its assumed noise would give. Here the recording is cut into
blocks; with J_c the information (inverse covariance) and chi_c the estimate after block c, the
block alone says

    g_c = (J_c chi_c - J_(c-1) chi_(c-1)) - (J_c - J_(c-1)) chi_C,

zero where it agrees with the last estimate chi_C. Without that block the estimate would be off by
d_c = (J_C - dJ_c)^-1 g_c, and C - 1 over C times the sum of d_c d_c' is its covariance (jackknife,
exact for linear least squares). Errors may be correlated as long as a block lasts, and need not
have the size that the filter assumed. With instruments J is Z'W, and the same holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Array = NDArray[np.float64]
BLOCKS, LONGER = 30, 3
# A direction in which a block holds nearly all information has no jackknife: the least share that
# the others must have.
LEAST_SHARE = 0.02


class BlockJackknife:
    """
    Collects estimate and information at the ends of the blocks.

    :param total: samples of the recording.
    :ivar every: samples of a block.
    """

    def __init__(self, total: int) -> None:
        self.every = max(-(-total // BLOCKS), 1)
        self._due, self._total = 0, total
        self._estimates: list[Array] = []
        self._information: list[Array] = []

    def due(self, sample: int) -> bool:
        """Tell whether a block has ended by this sample; the start is the first end."""
        return sample >= self._due or sample >= self._total

    def add(self, sample: int, estimate: Array, information: Array) -> None:
        """
        Note the state at the end of a block.

        :param estimate: (b,).
        :param information: (b, b) inverse covariance, prior included.
        """
        self._due = (sample // self.every + 1) * self.every
        self._estimates.append(np.array(estimate))
        self._information.append(np.array(information))

    def covariance(self, start_std: Array) -> Array | None:
        """
        (b, b) covariance of the last estimate; None with fewer than three blocks.

        Where errors last longer than a block, blocks that are `LONGER` times as long tell more.
        Few of them know the deviation of one parameter to a quarter only, and the larger of two
        such figures is too large in the mean: each parameter gets the mean square of both, or what
        the longer blocks say of all parameters (their median), where that is more.

        Few blocks know it badly: as wide as Student's quantile wants it, so that 1.96 deviations
        hold 95 %.

        :param start_std: (b,) deviations of the start values, which count by their share in the
            information.
        """
        last = len(self._estimates) - 1
        if last < 3:
            return None
        axes = _axes(self._information[-1])
        found = self._spread(range(last + 1), axes)
        if last >= 3 * LONGER:
            ends = range(last % LONGER, last + 1, LONGER)
            longer = self._spread([0, *ends] if ends[0] else ends, axes)
            tiny = np.finfo(float).tiny
            ratio = np.maximum(np.diag(longer), tiny) / np.maximum(np.diag(found), tiny)
            grown = np.sqrt(np.maximum(0.5 * (1.0 + ratio), np.median(ratio)))
            found = found * grown * grown[:, None]
        found = found * (stdtrit(last - 1, 0.975) / ndtri(0.975)) ** 2
        left, right = axes
        prior = right @ (left @ self._information[0]) * start_std
        return np.asarray(found + prior @ prior.T)

    def _spread(self, ends: Sequence[int], axes: tuple[Array, Array]) -> Array:
        """
        (b, b) covariance by leaving out what lies between two ends.

        :param axes: of all information.
        """
        (left, right), chi, J = axes, self._estimates, self._information
        total = np.zeros_like(right)
        for before, after in itertools.pairwise(ends):
            added = J[after] - J[before]
            says = left @ (J[after] @ chi[after] - J[before] @ chi[before] - added @ chi[-1])
            out, kept, into = np.linalg.svd(np.eye(len(says)) - left @ added @ right)
            moved = into.T @ ((out.T @ says) / np.maximum(kept, LEAST_SHARE))
            total += np.outer(moved, moved)
        C = len(ends) - 1
        return np.asarray(right @ total @ right.T * (C - 1) / C)


def _axes(J: Array) -> tuple[Array, Array]:
    """Return left and right (b, b) with left J right = 1; J (Z'W of instruments) as it is."""
    size = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(J)), np.finfo(float).tiny))
    U, values, Vt = np.linalg.svd(J * size * size[:, None])
    root = 1.0 / np.sqrt(np.maximum(values, values[0] * 1e-15))
    return (U * root).T * size, size[:, None] * Vt.T * root


def information_of(covariance: Array) -> Array:
    """(b, b) inverse of a positive definite covariance, by its Cholesky factor."""
    size = np.sqrt(np.diag(covariance))
    factor = sl.cholesky(covariance / size / size[:, None] + 1e-14 * np.eye(len(size)), lower=True)
    half = sl.solve_triangular(factor, np.diag(1.0 / size), lower=True)
    return half.T @ half
