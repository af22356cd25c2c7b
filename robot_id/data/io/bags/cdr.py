"""
Joint messages in bulk: CDR has a fixed layout while names and lengths do not change.

sensor_msgs/JointState and trajectory_msgs/JointTrajectory are a stamp, strings and arrays of
doubles. As long as the strings stay the same, all messages of a topic have the same length and
differ only in the stamp and the doubles, so thousands are taken apart (or put together) by one
numpy operation. Whatever differs from the pattern is taken apart by itself (`single`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_HEADER = 4
_SHORT = 'the message ends too early'
_STAMP = slice(4, 12)


class LayoutError(Exception):
    """The bytes are not such a message."""


@dataclass(frozen=True)
class Layout:
    """
    Where the numbers are in a message.

    :param names: joint names of the message.
    :param arrays: for each array of doubles its first byte and its length.
    :param size: of the message in bytes.
    :param order: of the bytes of a number, '<' (usual) or '>'.
    """

    names: tuple[str, ...]
    arrays: tuple[tuple[int, int], ...]
    size: int
    order: str = '<'


class _Cursor:
    """Reads a CDR buffer from its beginning; positions are aligned from after the header."""

    def __init__(self, data: bytes) -> None:
        if data[:2] not in (b'\x00\x01', b'\x00\x00'):
            raise LayoutError('the encoding is not plain CDR')
        self.data, self.at = data, _HEADER
        self.order = '<' if data[1] else '>'

    def integer(self) -> int:
        self.at += -(self.at - _HEADER) % 4
        if self.at + 4 > len(self.data):
            raise LayoutError(_SHORT)
        (value,) = struct.unpack_from(f'{self.order}I', self.data, self.at)
        self.at += 4
        return value

    def string(self) -> str:
        length = self.integer()
        if self.at + length > len(self.data):
            raise LayoutError(_SHORT)
        text = self.data[self.at : self.at + length].rstrip(b'\x00').decode()
        self.at += length
        return text

    def doubles(self) -> tuple[int, int]:
        count = self.integer()
        if count == 0:
            return self.at, 0
        self.at += -(self.at - _HEADER) % 8
        place = (self.at, count)
        self.at += 8 * count
        if self.at > len(self.data):
            raise LayoutError(_SHORT)
        return place


def joint_state_layout(data: bytes) -> Layout:
    """Return the layout of a JointState: arrays position, velocity, effort."""
    cursor = _Cursor(data)
    cursor.at += 8
    cursor.string()
    names = tuple(cursor.string() for _ in range(cursor.integer()))
    arrays = tuple(cursor.doubles() for _ in range(3))
    return Layout(names, arrays, len(data), cursor.order)


def trajectory_layout(data: bytes) -> Layout:
    """Return the layout of a JointTrajectory of one point: positions, velocities, acc., effort."""
    cursor = _Cursor(data)
    cursor.at += 8
    cursor.string()
    names = tuple(cursor.string() for _ in range(cursor.integer()))
    points = cursor.integer()
    if points != 1:
        raise LayoutError(f'{points} points, a reference message has one')
    arrays = tuple(cursor.doubles() for _ in range(4))
    return Layout(names, arrays, len(data), cursor.order)


def first_point_end(data: bytes) -> int:
    """Return where the arrays of the first point of a message of points end."""
    at, count = first_point_layout(data).arrays[-1]
    return at + 8 * count


def first_point_layout(data: bytes) -> Layout:
    """
    Return the layout of the first point of a message: positions, velocities, acc., effort.

    The states of a joint_trajectory_controller begin with a header, the names of its joints and
    the point that it wants: `desired` of the old message, `reference` of the new one.

    :param data: cut off after these arrays, as what follows differs from version to version.
    """
    cursor = _Cursor(data)
    cursor.at += 8
    cursor.string()
    names = tuple(cursor.string() for _ in range(cursor.integer()))
    arrays = tuple(cursor.doubles() for _ in range(4))
    return Layout(names, arrays, len(data), cursor.order)


def multi_array_layout(data: bytes) -> Layout:
    """Return the layout of a Float64MultiArray: its data, and names from the label `a,b,c`."""
    cursor = _Cursor(data)
    names: tuple[str, ...] = ()
    for _ in range(cursor.integer()):
        names = tuple(filter(None, cursor.string().split(',')))
        cursor.integer()
        cursor.integer()
    cursor.integer()
    return Layout(names, (cursor.doubles(),), len(data), cursor.order)


def single(
    data: bytes, find: Callable[[bytes], Layout], stamped: bool = True
) -> tuple[tuple[str, ...], int, list[Array]]:
    """
    Take one message apart, of either byte order.

    :param find: one of the layouts above.
    :return: names, stamp in ns (0 without one) and the arrays.
    """
    layout = find(data)
    stamp = 0
    if stamped:
        seconds, nanoseconds = struct.unpack_from(f'{layout.order}iI', data, _HEADER)
        stamp = seconds * 1_000_000_000 + nanoseconds
    arrays = [
        np.frombuffer(data, f'{layout.order}f8', count, at).astype(float) if count else np.empty(0)
        for at, count in layout.arrays
    ]
    return layout.names, stamp, arrays


def unpack(
    messages: list[bytes], layout: Layout, template: bytes, stamped: bool = True
) -> tuple[NDArray[np.int64], list[Array], NDArray[np.bool_]]:
    """
    Take messages of one size apart.

    :param messages: M messages of layout.size bytes each.
    :param template: a message that has the layout; all but stamp and doubles must equal it.
    :param stamped: whether a stamp follows the header.
    :returns: stamps in ns (M,), the arrays (M, count) each, and which messages fit the template.
    """
    table = np.frombuffer(b''.join(messages), dtype=np.uint8).reshape(len(messages), layout.size)
    fixed = np.ones(layout.size, dtype=bool)
    if stamped:
        fixed[_STAMP] = False
    for start, count in layout.arrays:
        fixed[start : start + 8 * count] = False
    pattern = np.frombuffer(template, dtype=np.uint8)
    fits = (table[:, fixed] == pattern[fixed]).all(axis=1)
    stamps = np.zeros(len(messages), dtype=np.int64)
    if stamped:
        raw = np.ascontiguousarray(table[:, _STAMP]).view('<i4').astype(np.int64)
        stamps = raw[:, 0] * 1_000_000_000 + (raw[:, 1] & 0xFFFFFFFF)
    arrays = [
        np.ascontiguousarray(table[:, start : start + 8 * count]).view('<f8')
        for start, count in layout.arrays
    ]
    return stamps, arrays, fits


def pack(
    template: bytes,
    layout: Layout,
    stamps: NDArray[np.int64],
    arrays: list[Array],
    stamped: bool = True,
) -> NDArray[np.uint8]:
    """
    Put messages together: the inverse of `unpack`.

    :returns: (M, layout.size) bytes, one message a row.
    """
    table = np.tile(np.frombuffer(template, dtype=np.uint8), (stamps.shape[0], 1))
    if stamped:
        parts = np.stack([stamps // 1_000_000_000, stamps % 1_000_000_000], axis=1)
        table[:, _STAMP] = parts.astype('<u4').view(np.uint8)
    for (start, count), values in zip(layout.arrays, arrays):
        if count:
            raw = np.ascontiguousarray(values, dtype='<f8').view(np.uint8)
            table[:, start : start + 8 * count] = raw
    return table


class Writer:
    """Puts one message together, value by value (little-endian)."""

    def __init__(self) -> None:
        self._data = bytearray(b'\x00\x01\x00\x00')

    def data(self) -> bytes:
        """Return the message so far."""
        return bytes(self._data)

    def integer(self, value: int) -> None:
        """Add an unsigned number of four bytes."""
        self._align(4)
        self._data += struct.pack('<I', value)

    def time(self, ns: int) -> None:
        """Add a Time or Duration."""
        self._align(4)
        self._data += struct.pack('<iI', ns // 1_000_000_000, ns % 1_000_000_000)

    def string(self, text: str) -> None:
        """Add a text with its length and its end."""
        content = text.encode() + b'\x00'
        self.integer(len(content))
        self._data += content

    def doubles(self, values: Array) -> None:
        """Add an array (count,) with its length."""
        self.integer(len(values))
        if len(values):
            self._align(8)
            self._data += np.ascontiguousarray(values, '<f8').tobytes()

    def _align(self, size: int) -> None:
        self._data += bytes(-(len(self._data) - _HEADER) % size)
