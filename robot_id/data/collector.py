"""Collects the numbers of one topic, grouped by what the messages name and how much they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys import Stores, get_typestore

from robot_id.data import cdr
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
Key = tuple[tuple[str, ...], tuple[int, ...]]

BATCH = 16384
# More patterns than this for messages of one size: take them one by one.
_PATTERNS = 8


@lru_cache(maxsize=1)
def typestore() -> Any:
    """Return the message definitions of ROS 2."""
    return get_typestore(Stores.ROS2_JAZZY)


@dataclass
class Group:
    """
    Messages with the same joint names and the same lengths.

    :param order: (M,) number of the message within the topic.
    :param stamps: (M,) header stamps in ns.
    :param received: (M,) receive times in ns.
    :param arrays: the arrays, (M, count) each.
    """

    order: list[Array] = field(default_factory=list)
    stamps: list[Array] = field(default_factory=list)
    received: list[Array] = field(default_factory=list)
    arrays: list[list[Array]] = field(default_factory=list)

    def merged(self) -> tuple[Array, Array, Array, list[Array]]:
        """Return order, stamps, received and arrays, each in one piece; the pieces are freed."""
        whole = []
        for number in range(len(self.arrays[0])):
            whole.append(np.concatenate([parts[number] for parts in self.arrays]))
            for parts in self.arrays:
                parts[number] = parts[number][:0]
        return (
            np.concatenate(self.order),
            np.concatenate(self.stamps),
            np.concatenate(self.received),
            whole,
        )


class Collector:
    """
    Takes the serialised messages of a topic and gives their numbers by group.

    :param topic: for messages to the user.
    :param layout: finds the numbers in a message, see cdr.py.
    :param generic: gives names, stamp in ns and arrays of a message that has another layout.
    """

    def __init__(
        self,
        topic: str,
        layout: Callable[[bytes], cdr.Layout],
        generic: Callable[[bytes], tuple[tuple[str, ...], int, list[Array]]],
        stamped: bool = True,
    ) -> None:
        self.topic = topic
        self.groups: dict[Key, Group] = {}
        self.count = 0
        self._layout, self._generic, self._stamped = layout, generic, stamped
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
            patterns.append((data, self._layout(data)))
        except (cdr.LayoutError, UnicodeDecodeError):
            return False
        return True

    def _one_by_one(self, data: list[bytes], received: Any, index: NDArray[np.intp]) -> None:
        for i in index:
            try:
                names, stamp, arrays = self._generic(data[i])
            except Exception as error:
                # The deserialiser raises many kinds of errors on bytes that are no such message.
                raise DataError(
                    f'topic {self.topic}: message {self.count + int(i) + 1} cannot be read '
                    f'({" ".join(str(error).split()) or type(error).__name__})'
                ) from error
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
        group = self.groups.setdefault(key, Group())
        group.order.append(index + self.count)
        group.stamps.append(stamps)
        group.received.append(received)
        group.arrays.append(arrays)


def joint_states(topic: str) -> Collector:
    """Return a collector of position, velocity and effort."""

    def generic(data: bytes) -> tuple[tuple[str, ...], int, list[Array]]:
        message = typestore().deserialize_cdr(data, 'sensor_msgs/msg/JointState')
        arrays = [message.position, message.velocity, message.effort]
        return tuple(message.name), _nanoseconds(message), [np.asarray(a, float) for a in arrays]

    return Collector(topic, cdr.joint_state_layout, generic)


def trajectories(topic: str) -> Collector:
    """Return a collector of the positions, velocities, accelerations (and effort) of one point."""

    def generic(data: bytes) -> tuple[tuple[str, ...], int, list[Array]]:
        message = typestore().deserialize_cdr(data, 'trajectory_msgs/msg/JointTrajectory')
        if len(message.points) != 1:
            raise ValueError(f'{len(message.points)} points, a reference has one')
        point = message.points[0]
        arrays = [point.positions, point.velocities, point.accelerations, point.effort]
        names = tuple(message.joint_names)
        return names, _nanoseconds(message), [np.asarray(a, float) for a in arrays]

    return Collector(topic, cdr.trajectory_layout, generic)


def multi_arrays(topic: str) -> Collector:
    """Return a collector of the values of a Float64MultiArray."""

    def generic(data: bytes) -> tuple[tuple[str, ...], int, list[Array]]:
        message = typestore().deserialize_cdr(data, 'std_msgs/msg/Float64MultiArray')
        return (), 0, [np.asarray(message.data, float)]

    return Collector(topic, cdr.multi_array_layout, generic, stamped=False)


def _nanoseconds(message: Any) -> int:
    return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)
