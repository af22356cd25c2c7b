"""Collects the numbers of one topic, grouped by joint names and lengths of the messages."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.io.bags import cdr

Array = NDArray[np.float64]
Key = tuple[tuple[str, ...], tuple[int, ...]]

BATCH = 16384
# Rows of a block beyond what was expected; large enough to be given back to the system.
_BLOCK = 1 << 20
# A count in damaged metadata must not request all the memory.
_LARGEST = 1 << 24
# More patterns than this for messages of one size: take them one by one.
_PATTERNS = 8


class Growing:
    """
    Rows that arrive in pieces, stored in a few large blocks.

    Small arrays kept between thousands of freed messages would fragment the memory.

    :param expected: rows of the first block.
    """

    def __init__(self, expected: int) -> None:
        self._expected = min(max(expected, 1), _LARGEST)
        self._blocks: list[Any] = []
        self.count = 0
        self._free = 0

    def append(self, rows: Any) -> None:
        """Copy rows to the end."""
        self.count += len(rows)
        while len(rows):
            if not self._free:
                size = self._expected if not self._blocks else _BLOCK
                self._blocks.append(np.empty((size, *rows.shape[1:]), dtype=rows.dtype))
                self._free = size
            block = self._blocks[-1]
            part = rows[: self._free]
            start = len(block) - self._free
            block[start : start + len(part)] = part
            self._free -= len(part)
            rows = rows[len(part) :]

    def take(self) -> Any:
        """Return all rows in one piece and forget them."""
        blocks, self._blocks = self._blocks, []
        last = blocks.pop()
        last = last[: len(last) - self._free]
        return np.concatenate([*blocks, last]) if blocks else last


class Group:
    """
    Messages with the same joint names and the same lengths.

    :param arrays: number of arrays in a message.
    :param expected: number of messages, where it is known.
    """

    def __init__(self, arrays: int, expected: int) -> None:
        self._parts = [Growing(expected) for _ in range(3 + arrays)]

    def __len__(self) -> int:
        return self._parts[0].count

    def add(self, order: Any, stamps: Any, received: Any, arrays: list[Array]) -> None:
        """Take messages: their numbers, header stamps, receive times (ns) and arrays."""
        for part, rows in zip(self._parts, (order, stamps, received, *arrays)):
            part.append(rows)

    def take(self) -> tuple[Any, Any, Any, list[Array]]:
        """Return order, stamps, received (M,) and the arrays (M, count), and forget them."""
        order, stamps, received, *arrays = (part.take() for part in self._parts)
        return order, stamps, received, arrays


class Collector:
    """
    Takes the serialised messages of a topic and gives their numbers by group.

    :param topic: for messages to the user.
    :param layout: finds the numbers in a message, see cdr.py.
    :param stamped: whether the messages begin with a header.
    :param expected: number of messages, where it is known.
    :ivar unreadable: messages that are none of this type and left out, `reason` of the first.
    """

    def __init__(
        self,
        topic: str,
        layout: Callable[[bytes], cdr.Layout],
        stamped: bool = True,
        expected: int = 0,
    ) -> None:
        self.topic = topic
        self.groups: dict[Key, Group] = {}
        self.count = 0
        self.unreadable, self.reason = 0, ''
        self._layout, self._stamped = layout, stamped
        self._expected = expected or _BLOCK
        self._patterns: dict[int, list[tuple[bytes, cdr.Layout]]] = {}
        self._data: list[bytes] = []
        self._received: list[int] = []

    def add(self, received: int, data: bytes) -> None:
        """Take one message."""
        self._data.append(data)
        self._received.append(received)
        if len(self._data) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Take apart what has been waiting."""
        data, received = self._data, np.array(self._received, dtype=np.int64)
        self._data, self._received = [], []
        sizes = np.array([len(each) for each in data])
        for size in np.unique(sizes):
            self._take(data, received, np.flatnonzero(sizes == size), int(size))
        self.count += len(data)

    def _take(self, data: list[bytes], received: Any, index: NDArray[np.intp], size: int) -> None:
        """Take messages of one size apart by the patterns known, learning new ones."""
        patterns = self._patterns.setdefault(size, [])
        tried = 0
        while index.size:
            if tried == len(patterns) and not self._learn(patterns, data[index[0]]):
                self._one_by_one(data, received, index)
                return
            template, layout = patterns[tried]
            tried += 1
            same = data if index.size == len(data) else [data[i] for i in index]
            stamps, arrays, fits = cdr.unpack(same, layout, template, self._stamped)
            if not fits.all():
                stamps, arrays = stamps[fits], [values[fits] for values in arrays]
            if fits.any():
                chosen = index[fits]
                self._store(layout.names, chosen, stamps, received[chosen], arrays)
            index = index[~fits]

    def _learn(self, patterns: list[tuple[bytes, cdr.Layout]], data: bytes) -> bool:
        if len(patterns) >= _PATTERNS:
            return False
        try:
            layout = self._layout(data)
        except (cdr.LayoutError, UnicodeDecodeError):
            return False
        # The other byte order is rare: one by one.
        if layout.order == '<':
            patterns.append((data, layout))
        return layout.order == '<'

    def _one_by_one(self, data: list[bytes], received: Any, index: NDArray[np.intp]) -> None:
        for i in index:
            try:
                names, stamp, arrays = cdr.single(data[i], self._layout, self._stamped)
            except (cdr.LayoutError, UnicodeDecodeError, struct.error) as error:
                self.unreadable += 1
                number = self.count + int(i) + 1
                self.reason = self.reason or f'message {number}: {error}'
                continue
            self._store(
                names,
                np.array([i]),
                np.array([stamp], dtype=np.int64),
                received[[i]],
                [values[None] for values in arrays],
            )

    def _store(
        self, names: tuple[str, ...], index: Any, stamps: Any, received: Any, arrays: list[Array]
    ) -> None:
        key = names, tuple(values.shape[1] for values in arrays)
        if key not in self.groups:
            # The first group is likely to be the only one.
            expected = self._expected if not self.groups else BATCH
            self.groups[key] = Group(len(arrays), expected)
        self.groups[key].add(index + self.count, stamps, received, arrays)


class FirstPoints(Collector):
    """Collects what a joint_trajectory_controller wants, from its states of any version."""

    def __init__(self, topic: str, expected: int = 0) -> None:
        super().__init__(topic, cdr.first_point_layout, expected=expected)
        self._ends: dict[int, int] = {}

    def add(self, received: int, data: bytes) -> None:
        """Take one message, without what follows its first point."""
        end = self._ends.get(len(data))
        if end is None:
            try:
                end = self._ends[len(data)] = cdr.first_point_end(data)
            except (cdr.LayoutError, UnicodeDecodeError):
                end = len(data)
        super().add(received, data[:end])


def joint_states(topic: str, expected: int = 0) -> Collector:
    """Return a collector of position, velocity and effort."""
    return Collector(topic, cdr.joint_state_layout, expected=expected)


def trajectories(topic: str, expected: int = 0) -> Collector:
    """Return a collector of the positions, velocities, accelerations (and effort) of one point."""
    return Collector(topic, cdr.trajectory_layout, expected=expected)


def multi_arrays(topic: str, expected: int = 0) -> Collector:
    """Return a collector of the values of a Float64MultiArray."""
    return Collector(topic, cdr.multi_array_layout, stamped=False, expected=expected)
