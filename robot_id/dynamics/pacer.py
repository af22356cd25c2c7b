"""Real time for a sampled process: how many samples are due now."""

from __future__ import annotations

import time

# A process that has fallen behind by more than this lets the time go.
MOST_BEHIND_S = 0.1


class Pacer:
    """
    Counts the samples that wall time asks for.

    :param rate_hz: samples per second of wall time.
    """

    def __init__(self, rate_hz: float) -> None:
        self._rate = rate_hz
        self.slips = 0
        self.restart()

    def restart(self) -> None:
        """Begin to count now."""
        self._start, self._done = time.perf_counter(), 0

    def due(self) -> int:
        """Return how many samples must be done now; they count as done."""
        count = int((time.perf_counter() - self._start) * self._rate) - self._done
        if count > max(MOST_BEHIND_S * self._rate, 2.0):
            self.slips += 1
            self.restart()
            self._done = 1
            return 1
        self._done += count
        return count
