"""Period, gaps and lost samples of a stream, from its stamps, block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.stamps import GAP

_RECENT = 2000
_FEW = 8


class StampStatistics:
    """
    Counts lost samples in a stream of stamps.

    The period is the median of the last steps. Samples that are missing in a gap are `round(step /
    period) - 1`. Steps of zero and backward steps are counted separately.

    :ivar samples: stamps seen.
    :ivar gaps: steps of more than 1.5 periods.
    :ivar missing: samples missing in them.
    :ivar duplicates: steps of zero.
    :ivar backward: backward steps: reordered messages, or a clock that was reset.
    """

    def __init__(self) -> None:
        self.samples = self.gaps = self.missing = self.duplicates = self.backward = 0
        self.first: int | None = None
        self.last: int | None = None
        self._recent: NDArray[np.int64] = np.empty(0, np.int64)
        self._waiting: NDArray[np.int64] = np.empty(0, np.int64)

    @property
    def period_s(self) -> float:
        """Median step of the last ones [s]; NaN before the second stamp."""
        return float(np.median(self._recent)) * 1e-9 if self._recent.size else float('nan')

    @property
    def duration_s(self) -> float:
        """From the first to the last stamp [s]."""
        if self.first is None or self.last is None:
            return 0.0
        return (self.last - self.first) * 1e-9

    def add(self, stamps: Sequence[int]) -> None:
        """
        Take in the next stamps.

        :param stamps: in order of arrival [ns].
        """
        if not len(stamps):
            return
        block = np.asarray(stamps, dtype=np.int64)
        self.samples += block.size
        if self.last is not None:
            block = np.concatenate(([self.last], block))
        else:
            self.first = int(block[0])
        self.last = int(block[-1])
        steps = np.diff(block)
        self.duplicates += int((steps == 0).sum())
        self.backward += int((steps < 0).sum())
        # A single stamp of another time makes a step there and one back: nothing is missing.
        back = steps < 0
        there = np.zeros(steps.size, dtype=bool)
        there[1:] |= back[:-1]
        there[:-1] |= back[1:]
        steps = steps[(steps > 0) & ~there]
        self._recent = np.concatenate((self._recent, steps))[-_RECENT:]
        # The first few steps wait until there are enough for a period that can be trusted.
        steps = np.concatenate((self._waiting, steps))
        if self._recent.size < _FEW:
            self._waiting = steps
            return
        self._waiting = steps[:0]
        self._count(steps)

    def finish(self) -> None:
        """Count the steps of a stream that was too short to wait for more."""
        steps, self._waiting = self._waiting, self._waiting[:0]
        if self._recent.size:
            self._count(steps)

    def _count(self, steps: NDArray[np.int64]) -> None:
        period = np.median(self._recent)
        long = steps[steps > GAP * period]
        self.gaps += int(long.size)
        self.missing += int(np.rint(long / period - 1).sum())
