"""The messages of a recording at their recorded pace; this file knows nothing of ROS."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from robot_id.data.cleaning.stamps import SECOND, header_stamp_ns
from robot_id.data.io.bags.messages import BagMessages
from robot_id.data.io.bags.reader import find_topic
from robot_id.data.io.bags.types import JOINT_STATE, MULTI_ARRAY, TRAJECTORY
from robot_id.exceptions import DataError

STANDARD = (
    ('joint_states', JOINT_STATE),
    ('reference', TRAJECTORY),
    ('effort_commands', MULTI_ARRAY),
)
SLICE_S = 0.05
# A recording does not pause for longer: such stamps are of another clock, or damaged.
LONGEST_WAIT_S = 10.0


class BagReplay:
    """
    Gives the messages of a recording at the pace at which the robot made them.

    The joint states keep the time by their stamps; the messages of other topics follow the joint
    state that they followed in the recording. Stamps that jump back, or ahead by more than 10 s,
    are followed without waiting; a damaged joint state is left out. Both are counted.

    :param path: the recording.
    :param start_s: where to begin, from the first joint state [s].
    :param rate: recorded seconds per second; may be changed while it plays.
    :ivar topics: name in the recording to relative name and type, of what is played.
    :ivar position_s: where it is now [s].
    :ivar latest_s: largest delay of a message against its time [s].
    :ivar jumps: stamps that were not waited for.
    :ivar damaged: messages that were left out.
    """

    def __init__(self, path: Path, start_s: float = 0.0, rate: float = 1.0) -> None:
        if not os.path.exists(path):
            raise DataError(f'{path}: no such recording')
        self._bag = BagMessages(path)
        self._start_ns, self.rate = round(start_s * SECOND), rate
        self.topics: dict[str, tuple[str, str]] = {}
        for name, kind in STANDARD:
            topic = find_topic(self._bag, name, kind)
            if topic is not None:
                self.topics[topic] = (name, kind)
        if not any(kind == JOINT_STATE for _, kind in self.topics.values()):
            raise DataError(f'{path}: it has no joint states')
        self.counts = dict.fromkeys(self.topics, 0)
        self.position_s = self.latest_s = 0.0
        self.jumps = self.damaged = 0
        self.running = threading.Event()
        self.running.set()
        self.stopped = threading.Event()

    @property
    def notes(self) -> list[str]:
        """Notes on repairs of the recording."""
        return self._bag.notes

    def play(self, send: Callable[[str, int, bytes], None]) -> bool:
        """
        Play once, from the start to the end.

        :param send: called with the topic in the recording, the time [ns] and the message.
        :return: False when it was stopped before the end.
        """
        begun, first, last, last_rate = 0.0, None, 0, self.rate
        for topic, now, data in self._timed():
            if first is None:
                first = last = now
                if not self._start_ns:
                    begun = time.monotonic()
            if not 0 <= now - last <= LONGEST_WAIT_S * SECOND:
                first += now - last
                self.jumps += 1
            last = now
            self.position_s = (now - first) / SECOND
            if now - first < self._start_ns:
                continue
            if not begun or self.rate != last_rate or not self.running.is_set():
                if not self._while_paused():
                    return False
                # The remaining messages are timed from here.
                last_rate = self.rate
                begun = time.monotonic() - self.position_s / last_rate
            if not self._wait_until(begun + self.position_s / last_rate):
                return False
            send(topic, now, data)
            self.counts[topic] += 1
        if first is not None and self.position_s * SECOND < self._start_ns:
            raise DataError(
                f'start_s = {self._start_ns / SECOND:g} is after the end of the recording, '
                f'{self.position_s:g} s'
            )
        return True

    def _timed(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, time [ns] and message; the time is that of the last joint state."""
        states = next(topic for topic, (_, kind) in self.topics.items() if kind == JOINT_STATE)
        now: int | None = None
        early: list[tuple[str, bytes]] = []
        for topic, received, data in self._bag.messages(set(self.topics)):
            if topic == states:
                try:
                    now = header_stamp_ns(data) or received
                except DataError:
                    self.damaged += 1
                    continue
                for other, message in early:
                    yield other, now, message
                early.clear()
            elif now is None:
                early.append((topic, data))
                continue
            yield topic, now, data

    def _while_paused(self) -> bool:
        while not self.running.wait(SLICE_S):
            if self.stopped.is_set():
                return False
        return not self.stopped.is_set()

    def _wait_until(self, due: float) -> bool:
        while (left := due - time.monotonic()) > 0:
            if self.stopped.wait(min(left, SLICE_S)):
                return False
        self.latest_s = max(self.latest_s, -left)
        return not self.stopped.is_set()
