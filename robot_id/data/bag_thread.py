"""The thread that writes the messages of the data logger to disk."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_id.data.growing_bag import GrowingBag
from robot_id.data.mcap_writer import Channel
from robot_id.data.stamp_statistics import StampStatistics
from robot_id.data.stamps import header_stamp_ns
from robot_id.exceptions import DataError

Message = tuple[int, int, bytes]
# Extra time [s] that a recording of limited length waits for its first joint state.
SILENCE_S = 30.0


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
