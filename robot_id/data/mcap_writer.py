"""
Writing an mcap file so that it is whole on disk after every flush.

The index and the footer are written behind each chunk, and the next chunk takes their place. A
process that dies between two flushes leaves a file that every mcap reader opens; one that dies in
the middle of a flush leaves a file that is cut off inside its last chunk.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robot_id.data.mcap_scan import MAGIC

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
    """

    def __init__(self, path: Path, channels: Sequence[Channel], library: str = 'robot_id') -> None:
        self._channels = tuple(channels)
        self._totals = _Totals(counts=dict.fromkeys(range(len(channels)), 0))
        self._chunk_indexes: list[bytes] = []
        self._definitions = [_schema(i, c) for i, c in enumerate(self._channels)]
        self._definitions += [_channel(i, c) for i, c in enumerate(self._channels)]
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        start = MAGIC + _record(_HEADER, _text('ros2') + _text(library))
        self._end = 0
        self._put(start + b''.join(self._definitions))

    @property
    def counts(self) -> list[int]:
        """Messages on disk, per channel."""
        return list(self._totals.counts.values())

    @property
    def span(self) -> tuple[int, int]:
        """Times of the first and the last message on disk [ns]; (0, 0) when there are none."""
        return (self._totals.first, self._totals.last) if self._chunk_indexes else (0, 0)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return os.fstat(self._file).st_size

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
        content = b''.join(pieces)
        check = zlib.crc32(content)
        head = struct.pack('<QQQI', first, last, at, check) + _text('') + struct.pack('<Q', at)
        chunk = struct.pack('<BQ', _CHUNK, len(head) + at) + head + content
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
        self._chunk_indexes.append(
            _record(
                _CHUNK_INDEX,
                struct.pack('<QQQQI', first, last, self._end, len(chunk), len(places))
                + places
                + struct.pack('<Q', offset - self._end - len(chunk))
                + _text('')
                + struct.pack('<QQ', at, at),
            )
        )
        before = _Totals(self._totals.first, self._totals.last, dict(self._totals.counts))
        self._totals.first = min(self._totals.first, first)
        self._totals.last = max(self._totals.last, last)
        for channel, entries in indexes.items():
            self._totals.counts[channel] += len(entries) // 2
        try:
            self._put(b''.join(block))
        except OSError:
            self._totals = before
            self._chunk_indexes.pop()
            self._put(b'')
            raise

    def close(self) -> None:
        """Close the file; it is whole already."""
        os.close(self._file)

    def _put(self, block: bytes) -> None:
        """Write a block where the summary stands, and the summary behind it."""
        end = self._end + len(block)
        data = block + self._summary(end)
        try:
            _write_all(self._file, data, self._end)
            os.ftruncate(self._file, self._end + len(data))
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._end)
            raise
        self._end = end

    def _summary(self, at: int) -> bytes:
        """Return everything from the end of the data to the end of the file."""
        end = _record(_DATA_END, struct.pack('<I', 0))
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
        start = place = at + len(end)
        parts, offsets = [end], []
        for code, records in groups:
            group = b''.join(records)
            if group:
                entry = struct.pack('<BQQ', code, place, len(group))
                offsets.append(_record(_SUMMARY_OFFSET, entry))
            parts.append(group)
            place += len(group)
        footer = _record(_FOOTER, struct.pack('<QQI', start, place, 0))
        return b''.join((*parts, *offsets, footer, MAGIC))


def _write_all(file: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


def _record(code: int, body: bytes) -> bytes:
    return struct.pack('<BQ', code, len(body)) + body


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
