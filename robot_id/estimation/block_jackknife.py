"""
Deviations of a recursive estimator from what each part of the recording says.

A filter states the deviations that its assumed noise would give. Here the recording is cut into
blocks; with J_c the information (inverse covariance) and chi_c the estimate after block c, the
block alone says

    g_c = (J_c chi_c - J_(c-1) chi_(c-1)) - (J_c - J_(c-1)) chi_C,

zero where it agrees with the last estimate chi_C. Without that block the estimate would be off by
d_c = (J_C - dJ_c)^-1 g_c, and C - 1 over C times the sum of d_c d_c' is its covariance (jackknife,
exact for linear least squares). Errors may be correlated as long as a block lasts, and need not
have the size that the filter assumed.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

Array = NDArray[np.float64]
BLOCKS = 30
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
        self._due = 0
        self._estimates: list[Array] = []
        self._information: list[Array] = []

    def due(self, sample: int) -> bool:
        """Tell whether a block ends at or before this sample; the start is the first end."""
        return sample >= self._due

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

        :param start_std: (b,) deviations of the start values, which count by their share in the
            information.
        """
        C = len(self._estimates) - 1
        if C < 3:
            return None
        last, J = self._estimates[-1], self._information[-1]
        size = 1.0 / np.sqrt(np.maximum(np.diag(J), np.finfo(float).tiny))
        J = J * size * size[:, None]
        values, vectors = np.linalg.eigh(J)
        root = vectors / np.sqrt(np.maximum(values, values[-1] * 1e-15))
        total = np.zeros_like(J)
        for c in range(1, C + 1):
            before, after = self._information[c - 1], self._information[c]
            says = after @ self._estimates[c] - before @ self._estimates[c - 1]
            says = root.T @ (size * (says - (after - before) @ last))
            share = root.T @ ((after - before) * size * size[:, None]) @ root
            kept, axes = np.linalg.eigh(0.5 * (share + share.T))
            moved = axes @ ((axes.T @ says) / np.maximum(1.0 - kept, LEAST_SHARE))
            total += np.outer(moved, moved)
        back = size[:, None] * root
        prior = back @ (back.T @ self._information[0]) * start_std
        return back @ total @ back.T * (C - 1) / C + prior @ prior.T


def information_of(covariance: Array) -> Array:
    """(b, b) inverse of a positive definite covariance, by its Cholesky factor."""
    size = np.sqrt(np.diag(covariance))
    factor = sl.cholesky(covariance / size / size[:, None] + 1e-14 * np.eye(len(size)), lower=True)
    half = sl.solve_triangular(factor, np.diag(1.0 / size), lower=True)
    return half.T @ half
