"""The thread that writes the messages of the data logger to disk."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.stamps import GAP, header_stamp_ns
from robot_id.data.io.bags.growing import GrowingBag
from robot_id.data.io.bags.mcap_writer import Channel
from robot_id.exceptions import DataError

Message = tuple[int, int, bytes]
# Extra time [s] that a recording of limited length waits for its first joint state.
SILENCE_S = 30.0
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


@dataclass(frozen=True)
class Limits:
    """
    When a recording ends by itself.

    :param duration_s: of the joint states, from the first to the last [s]; 0: never.
    :param free_bytes: of the disk, less ends it.
    :param flush_period_s: time between two writes to disk [s].
    """

    duration_s: float = 0.0
    free_bytes: int = 0
    flush_period_s: float = 0.5


class BagThread:
    """
    Takes serialised messages at any rate and writes them a few times a second.

    :param path: directory of the bag.
    :param channels: topics; the first one holds the joint states.
    :param limits: when to end.
    :ivar ended: why it has ended by itself, '' while it runs.
    :ivar failed: whether that was a fault of the disk.
    """

    def __init__(self, path: Path, channels: Sequence[Channel], limits: Limits) -> None:
        self.statistics = StampStatistics()
        self.ended, self.failed = '', False
        self.last_received = 0
        self._limits = limits
        self._bag = GrowingBag(path, channels)
        self.counts, self.size = self._bag.counts, self._bag.size
        self._pending: list[Message] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._begun = time.monotonic()
        self._thread = threading.Thread(target=self._run, name='bag', daemon=True)
        self._thread.start()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The topics."""
        return self._bag.channels

    @property
    def path(self) -> Path:
        """Directory of the bag."""
        return self._bag.path

    def take(self, channel: int, received_ns: int, data: bytes) -> None:
        """Put a message into the queue, which is cheap."""
        with self._lock:
            self._pending.append((channel, received_ns, data))

    def close(self, lost_by_middleware: int = 0) -> None:
        """Write what is left and close the bag; harmless when it is closed already."""
        if self._stop.is_set() and not self._thread.is_alive():
            return
        self._lost_by_middleware = lost_by_middleware
        self._stop.set()
        self._thread.join()

    _lost_by_middleware = 0

    def _run(self) -> None:
        while not self._stop.wait(self._limits.flush_period_s):
            self._flush()
            if self.ended:
                self._stop.set()
        if not self.ended:
            self._flush()
        self.statistics.finish()
        remarks = {
            'robot_id_samples': self.statistics.samples,
            'robot_id_gaps': self.statistics.gaps,
            'robot_id_lost': max(self.statistics.missing, self._lost_by_middleware),
        }
        try:
            self._bag.close(remarks)
            self.size = self._bag.size
        except OSError as error:
            self._fail(error)

    def _flush(self) -> None:
        with self._lock:
            messages, self._pending = self._pending, []
        messages, stamps = self._within_duration(messages)
        try:
            self._bag.write(messages)
            free = shutil.disk_usage(self._bag.path).free
        except OSError as error:
            self._fail(error)
            return
        self.statistics.add(stamps)
        if messages:
            self.last_received = messages[-1][1]
        self.counts, self.size = self._bag.counts, self._bag.size
        if free < self._limits.free_bytes and not self.ended:
            self.ended, self.failed = f'only {free / 1e6:.0f} MB are free on the disk', True

    def _within_duration(self, messages: list[Message]) -> tuple[list[Message], list[int]]:
        """Return the messages up to the end of the allowed time, and the stamps of the states."""
        stamps: list[int] = []
        limit = self._limits.duration_s
        first = self.statistics.first
        for place, (channel, _, data) in enumerate(messages):
            if channel != 0:
                continue
            try:
                stamp = header_stamp_ns(data)
            except DataError:
                # Recorded as it is; the reader will say so.
                continue
            first = stamp if first is None else first
            if limit and stamp - first > limit * 1e9:
                self.ended = f'{limit:g} s are recorded'
                return messages[:place], stamps
            stamps.append(stamp)
        patience = limit + SILENCE_S
        if limit and first is None and time.monotonic() - self._begun > patience:
            self.ended = f'no joint states within {patience:g} s'
        return messages, stamps

    def _fail(self, error: OSError) -> None:
        reason = error.strerror or str(error)
        self.ended, self.failed = f'{self._bag.path.name} cannot be written: {reason}', True
