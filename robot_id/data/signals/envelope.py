"""
Long signals for the eye: smallest and largest value of each of a few hundred intervals.

Levels of blocks are computed once, so that any window of an hour at 1 kHz takes a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Samples of a block of the first level, and blocks of a block of the next one.
BLOCK = 32


@dataclass
class Envelope:
    """
    Channels over one clock.

    :param time: (N,) seconds, strictly increasing.
    :param channels: name -> (N, n) values.
    """

    time: Array
    channels: dict[str, Array]
    _levels: dict[str, list[tuple[Array, Array]]] = field(default_factory=dict, repr=False)

    def window(
        self, channel: str, column: int, start: float, end: float, intervals: int = 400
    ) -> tuple[Array, Array]:
        """
        Return times and values to draw, at most 2 `intervals` + 2 of each.

        :param start: seconds; the sample before it and the one after `end` are in it.
        """
        first = max(int(np.searchsorted(self.time, start)) - 1, 0)
        last = min(int(np.searchsorted(self.time, end)) + 1, len(self.time))
        count = last - first
        if count <= 2 * intervals:
            return self.time[first:last], self.channels[channel][first:last, column]
        level, size = -1, 1
        while count > 2 * intervals * size * BLOCK:
            level, size = level + 1, size * BLOCK
        if level < 0:
            low = high = self.channels[channel][first:last, column]
        else:
            own = self._level(channel, level)
            low, high = (each[first // size : -(-last // size), column] for each in own)
        edges = np.linspace(0, len(low), intervals + 1).astype(np.int64)[:-1]
        smallest, largest = np.minimum.reduceat(low, edges), np.maximum.reduceat(high, edges)
        at = np.minimum((first // size + edges) * size, len(self.time) - 1)
        after = np.minimum(at + max((last - first) // (2 * intervals), 1), len(self.time) - 1)
        times, values = np.empty(2 * intervals), np.empty(2 * intervals)
        times[0::2], times[1::2] = self.time[at], self.time[after]
        # A falling signal has its largest value first.
        falling = np.gradient(smallest + largest) < 0.0
        values[0::2] = np.where(falling, largest, smallest)
        values[1::2] = np.where(falling, smallest, largest)
        return times, values

    def _level(self, channel: str, level: int) -> tuple[Array, Array]:
        """Return smallest and largest values of blocks of BLOCK ** (level + 1) samples."""
        levels = self._levels.setdefault(channel, [])
        while len(levels) <= level:
            low, high = levels[-1] if levels else (self.channels[channel],) * 2
            edges = np.arange(0, len(low), BLOCK)
            levels.append((np.minimum.reduceat(low, edges), np.maximum.reduceat(high, edges)))
        return levels[level]
