"""The time between samples by counting them: a jitter of the stamps must not become torque."""

from __future__ import annotations

# Share of a stamp's deviation by which the grid of the samples moves: it follows a drift of the
# clocks within some fifty samples, and a jitter hardly.
FOLLOWED = 0.02
# Nearer to the nominal period than this, a step is the period.
EXACT = 1e-3


class SampleClock:
    """
    How many periods a sample comes after the last one.

    The robot samples by its own clock; stamps are made later and jitter. So a step is a whole
    number of nominal periods, one unless samples were lost, and the stamps only count the lost.

    :param period_ns: nominal.
    """

    def __init__(self, period_ns: float) -> None:
        self.period_ns = period_ns
        self._grid: float | None = None

    def restart(self) -> None:
        """Forget the last sample."""
        self._grid = None

    def periods(self, stamp: int) -> int:
        """Return the number of periods since the last sample, 1 for the first one."""
        if self._grid is None:
            self._grid = float(stamp)
            return 1
        since = (stamp - self._grid) / self.period_ns
        count = max(round(since), 1)
        self._grid += count * self.period_ns
        late = stamp - self._grid
        if abs(late) <= EXACT * self.period_ns:
            self._grid = float(stamp)
        else:
            self._grid += FOLLOWED * late
        return count
