"""
Reading an mcap file from its beginning to its end, or to where it was cut off.

It needs no index, so a recording that was interrupted gives all it has, and it does less for each
message than a reader that sorts them, so it serves whole files too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rosbags.rosbag2.storage_mcap import decompress

MAGIC = b'\x89MCAP0\r\n'
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 3, 4, 5, 6, 15
_RECORD = struct.Struct('<BQ')
_STAMPS = struct.Struct('<HIQ')


class Topic(NamedTuple):
    """A channel of the file."""

    name: str
    type: str


class McapScan:
    """
    Messages of an mcap file in the order of the file, up to where it can be read.

    :param path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.topics: dict[int, Topic] = {}
        self.complete = False
        self._types: dict[int, str] = {0: ''}
        self._damaged = False

    def messages(self, topics: set[str] | None = None) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, receive time in ns and bytes; stops where the file is cut or damaged.

        :param topics: those wanted, None for all.
        """
        with self.path.open('rb') as file:
            if file.read(8) != MAGIC:
                return
            while (head := file.read(9)) and len(head) == 9:
                size = int.from_bytes(head[1:], 'little')
                if head[0] == _DATA_END:
                    self.complete = True
                    return
                record = file.read(size)
                if len(record) < size:
                    return
                data = _chunk(record) if head[0] == _CHUNK else head + record
                if data is None:
                    return
                yield from self._records(data, topics)
                if self._damaged:
                    return

    def _records(self, data: bytes, topics: set[str] | None) -> Iterator[tuple[str, int, bytes]]:
        """Go through the records of a chunk, or through one that stands by itself."""
        at, end = 0, len(data)
        wanted: dict[int, str] | None = None
        # A message is given when a sound record follows it: damage begins inside the one before.
        pending: tuple[str, int, bytes] | None = None
        while at + 9 <= end:
            code, size = _RECORD.unpack_from(data, at)
            body, at = at + 9, at + 9 + size
            if code == 0 or at > end:
                self._damaged = True
                return
            if pending is not None:
                yield pending
                pending = None
            if code == _MESSAGE:
                if wanted is None:
                    wanted = {
                        number: topic.name
                        for number, topic in self.topics.items()
                        if topics is None or topic.name in topics
                    }
                channel, _, received = _STAMPS.unpack_from(data, body)
                if channel in wanted:
                    pending = wanted[channel], received, data[body + 22 : at]
            elif code == _SCHEMA:
                (number,) = struct.unpack_from('<H', data, body)
                self._types[number] = _string(data, body + 2)[0]
            elif code == _CHANNEL:
                number, schema = struct.unpack_from('<HH', data, body)
                self.topics[number] = Topic(
                    _string(data, body + 4)[0], self._types.get(schema, '')
                )
                wanted = None
        if pending is not None:
            yield pending


def _chunk(record: bytes) -> bytes | None:
    """Return the records of a chunk in one piece; None when it is damaged."""
    try:
        _, _, size, check = struct.unpack_from('<QQQI', record)
        compression, at = _string(record, 28)
        (length,) = struct.unpack_from('<Q', record, at)
        return decompress(record[at + 8 : at + 8 + length], compression, size, check)
    except Exception:  # each decompressor has errors of its own; all mean a damaged chunk
        return None


def _string(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from('<I', data, at)
    return data[at + 4 : at + 4 + length].decode(), at + 4 + length
