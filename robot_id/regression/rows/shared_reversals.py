"""Reversals of one motion and what they leave, for all sets of rows that are made of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.signals.processing import Processing
from robot_id.regression.rows.reversals import Basis, response_bases, reversal_times

Array = NDArray[np.float64]
# Bases are kept up to this size.
LARGEST_MB = 64.0


class SharedReversals:
    """
    Finds the reversals of each run once, and the bases of its rows once for rows at equal times.

    A fit makes the same rows many times (a cut-off each, noisier positions): decimation and the
    moments of the reversals are the same in all of them, and so are the bases.

    :param coulomb_slope: alpha of the friction in W; None for sign(dq).
    :ivar fine: friction is known in so much detail that slopes count (see `response_columns`).
    """

    def __init__(self, coulomb_slope: float | None) -> None:
        self.coulomb_slope = coulomb_slope
        self.fine = coulomb_slope is not None
        self._times: dict[int, list[Array]] = {}
        self._bases: dict[tuple[int, int], tuple[Array, list[Basis]]] = {}
        self._bytes = 0

    def bases(
        self, k: int, run: Run, joint: int, time: Array, processing: Processing
    ) -> list[Basis]:
        """
        Return the bases of what the reversals of a joint leave in its (r,) rows at `time`.

        :param k: number of the run.
        :param processing: the same rows in every call.
        """
        if k not in self._times:
            self._times[k] = reversal_times(run, processing, self.coulomb_slope)
        kept = self._bases.get((k, joint))
        if kept is not None and np.array_equal(kept[0], time):
            return kept[1]
        bases = response_bases(time, self._times[k][joint], processing, run.step, self.fine)
        size = time.nbytes + sum(Q.nbytes for _, Q in bases)
        if kept is None and self._bytes + size <= LARGEST_MB * 1e6:
            self._bases[k, joint] = time, bases
            self._bytes += size
        return bases
