"""
Writing an mcap file so that it is whole on disk after every flush.

Chunks are appended, each with its checksum and the index of its messages. Behind the last one
stands an end of 50 bytes without a summary, which the next chunk replaces; the index of all chunks
is written once, when the file is closed. A process that dies between two flushes leaves a file
that mcap readers go through from its beginning; one that dies in the middle of a flush leaves a
file that is cut off inside its last chunk.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robot_id.data.io.bags.mcap_scan import MAGIC

_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _MESSAGE_INDEX, _CHUNK_INDEX = range(1, 9)
_STATISTICS, _SUMMARY_OFFSET, _DATA_END = 11, 14, 15

_MESSAGE_HEAD = struct.Struct('<BQHIQQ')
_MAXIMUM_TIME = 2**63 - 1


@dataclass(frozen=True)
class Channel:
    """
    A topic of the file.

    :param topic: its name, with the leading slash.
    :param type: such as sensor_msgs/msg/JointState.
    :param definition: text of the message definition, with the types that it uses.
    :param type_hash: RIHS01 hash of the type.
    """

    topic: str
    type: str
    definition: str
    type_hash: str = ''


@dataclass
class _Totals:
    """What the statistics record says."""

    first: int = _MAXIMUM_TIME
    last: int = 0
    counts: dict[int, int] = field(default_factory=dict)


class McapWriter:
    """
    Writes messages in chunks, without compression.

    :param path: file to create; it must not exist.
    :param channels: all topics; a message names its channel by its place here, from 0.
    :ivar size: bytes on disk.
    """

    def __init__(self, path: Path, channels: Sequence[Channel], library: str = 'robot_id') -> None:
        self._channels = tuple(channels)
        self._totals = _Totals(counts=dict.fromkeys(range(len(channels)), 0))
        self._chunk_indexes: list[bytes] = []
        self._definitions = [_schema(i, c) for i, c in enumerate(self._channels)]
        self._definitions += [_channel(i, c) for i, c in enumerate(self._channels)]
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        start = MAGIC + _record(_HEADER, _text('ros2') + _text(library))
        self._end = self.size = 0
        self._append(start + b''.join(self._definitions), _NO_SUMMARY)

    @property
    def counts(self) -> list[int]:
        """Messages on disk, per channel."""
        return list(self._totals.counts.values())

    @property
    def span(self) -> tuple[int, int]:
        """Times of the first and the last message on disk [ns]; (0, 0) when there are none."""
        return (self._totals.first, self._totals.last) if self._chunk_indexes else (0, 0)

    def write(self, messages: Sequence[tuple[int, int, bytes]]) -> None:
        """
        Append a chunk and wait until it is on disk.

        :param messages: channel, receive time [ns] and serialised message of each.
        :raises OSError: when the disk does not take it; the file is then as it was before.
        """
        if not messages:
            return
        pieces: list[bytes] = []
        indexes: dict[int, list[int]] = {}
        at = 0
        for channel, time, data in messages:
            indexes.setdefault(channel, []).extend((time, at))
            length = 22 + len(data)
            pieces += (_MESSAGE_HEAD.pack(_MESSAGE, length, channel, 0, time, time), data)
            at += 9 + length
        times = [time for _, time, _ in messages]
        first, last = min(times), max(times)
        records = b''.join(pieces)
        head = struct.pack('<QQQI', first, last, at, zlib.crc32(records))
        head += _text('') + struct.pack('<Q', at)
        chunk = struct.pack('<BQ', _CHUNK, len(head) + at) + head + records
        block, places = [chunk], b''
        offset = self._end + len(chunk)
        for channel, entries in indexes.items():
            index = _record(
                _MESSAGE_INDEX,
                struct.pack(f'<HI{len(entries)}Q', channel, 8 * len(entries), *entries),
            )
            places += struct.pack('<HQ', channel, offset)
            offset += len(index)
            block.append(index)
        index = _record(
            _CHUNK_INDEX,
            struct.pack('<QQQQI', first, last, self._end, len(chunk), len(places))
            + places
            + struct.pack('<Q', offset - self._end - len(chunk))
            + _text('')
            + struct.pack('<QQ', at, at),
        )
        self._append(b''.join(block), _NO_SUMMARY)
        self._chunk_indexes.append(index)
        self._totals.first = min(self._totals.first, first)
        self._totals.last = max(self._totals.last, last)
        for channel, entries in indexes.items():
            self._totals.counts[channel] += len(entries) // 2

    def close(self) -> None:
        """Write the index of all chunks and close the file; a full disk leaves it without one."""
        try:
            self._append(b'', self._summary(self._end))
        finally:
            os.close(self._file)

    def _append(self, block: bytes, tail: bytes) -> None:
        """Write a block where the end of the file stands, and an end behind it."""
        data = block + tail
        try:
            _write_all(self._file, data, self._end)
            os.ftruncate(self._file, self._end + len(data))
            os.fsync(self._file)
        except OSError:
            # The short end fits where it stood before.
            _write_all(self._file, _NO_SUMMARY, self._end)
            os.ftruncate(self._file, self._end + len(_NO_SUMMARY))
            raise
        self._end += len(block)
        self.size = self._end + len(tail)

    def _summary(self, at: int) -> bytes:
        """Return everything from the end of the data to the end of the file."""
        totals = self._totals
        first = totals.first if self._chunk_indexes else 0
        counts = b''.join(struct.pack('<HQ', *item) for item in totals.counts.items())
        statistics = struct.pack(
            '<QHIIIIQQI',
            sum(totals.counts.values()),
            len(self._channels),
            len(self._channels),
            0,
            0,
            len(self._chunk_indexes),
            first,
            totals.last,
            len(counts),
        )
        half = len(self._channels)
        groups = (
            (_SCHEMA, self._definitions[:half]),
            (_CHANNEL, self._definitions[half:]),
            (_CHUNK_INDEX, self._chunk_indexes),
            (_STATISTICS, [_record(_STATISTICS, statistics + counts)]),
        )
        start = place = at + len(_END_OF_DATA)
        parts, offsets = [], []
        for code, records in groups:
            group = b''.join(records)
            if group:
                entry = struct.pack('<BQQ', code, place, len(group))
                offsets.append(_record(_SUMMARY_OFFSET, entry))
            parts.append(group)
            place += len(group)
        summary = b''.join((*parts, *offsets))
        # The checksum covers the summary and the footer up to the checksum itself.
        footer = struct.pack('<BQQQ', _FOOTER, 20, start, place)
        check = struct.pack('<I', zlib.crc32(summary + footer))
        return b''.join((_END_OF_DATA, summary, footer, check, MAGIC))


def _record(code: int, body: bytes) -> bytes:
    return struct.pack('<BQ', code, len(body)) + body


_END_OF_DATA = _record(_DATA_END, struct.pack('<I', 0))
_NO_SUMMARY = _END_OF_DATA + _record(_FOOTER, struct.pack('<QQI', 0, 0, 0)) + MAGIC


def _write_all(file: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack('<I', len(data)) + data


def _schema(number: int, channel: Channel) -> bytes:
    body = struct.pack('<H', number + 1) + _text(channel.type) + _text('ros2msg')
    return _record(_SCHEMA, body + _text(channel.definition))


def _channel(number: int, channel: Channel) -> bytes:
    notes = _text('offered_qos_profiles') + _text('[]')
    if channel.type_hash:
        notes += _text('topic_type_hash') + _text(channel.type_hash)
    body = struct.pack('<HH', number, number + 1) + _text(channel.topic) + _text('cdr')
    return _record(_CHANNEL, body + struct.pack('<I', len(notes)) + notes)
