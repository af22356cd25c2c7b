"""Real time for a sampled process: how many samples are due now."""

from __future__ import annotations

import time
from collections.abc import Callable

# A process that is further behind than this skips the lost time.
MOST_BEHIND_S = 0.1


class Pacer:
    """
    Counts the samples that are due by wall time; call it once in each period.

    Sample k is due from half a period before k / rate on: a timer that ticks at k / rate, now a
    little early and now a little late, gets one sample each time, not none and then two.

    :param rate_hz: samples per second of wall time.
    :param clock: seconds, steady.
    :ivar slips: how often lost time was skipped.
    """

    def __init__(self, rate_hz: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._rate, self._clock = rate_hz, clock
        self.slips = 0
        self.restart()

    def restart(self) -> None:
        """Start counting now."""
        self._start, self._done = self._clock(), 0

    def due(self) -> int:
        """Return how many samples must be done now; they count as done."""
        count = int((self._clock() - self._start) * self._rate + 0.5) - self._done
        if count > max(MOST_BEHIND_S * self._rate, 2.0):
            self.slips += 1
            self.restart()
            return 1
        count = max(count, 0)
        self._done += count
        return count
