"""Reading an mcap file from its beginning, for one whose end with the index is missing."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rosbags.rosbag2.storage_mcap import decompress

MAGIC = b'\x89MCAP0\r\n'
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 3, 4, 5, 6, 15


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

    def messages(self) -> Iterator[tuple[Topic, int, bytes]]:
        """Yield topic, receive time in ns and bytes; stops where the file is cut or damaged."""
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
                if head[0] == _CHUNK:
                    inner = _chunk_records(record)
                    if inner is None:
                        return
                    for code, part in inner:
                        yield from self._handle(code, part)
                else:
                    yield from self._handle(head[0], record)

    def _handle(self, code: int, record: bytes) -> Iterator[tuple[Topic, int, bytes]]:
        if code == _MESSAGE:
            channel, _, received, _ = struct.unpack_from('<HIQQ', record)
            if channel in self.topics:
                yield self.topics[channel], received, record[22:]
        elif code == _SCHEMA:
            (number,) = struct.unpack_from('<H', record)
            self._types[number] = _string(record, 2)[0]
        elif code == _CHANNEL:
            number, schema = struct.unpack_from('<HH', record)
            self.topics[number] = Topic(_string(record, 4)[0], self._types.get(schema, ''))


def _chunk_records(record: bytes) -> list[tuple[int, bytes]] | None:
    """Return the records of a chunk; None when it is damaged."""
    try:
        _, _, size, check = struct.unpack_from('<QQQI', record)
        compression, at = _string(record, 28)
        (length,) = struct.unpack_from('<Q', record, at)
        data = decompress(record[at + 8 : at + 8 + length], compression, size, check)
    except Exception:  # each decompressor has errors of its own; all mean a damaged chunk
        return None
    records, at = [], 0
    while at + 9 <= len(data):
        (length,) = struct.unpack_from('<Q', data, at + 1)
        records.append((data[at], data[at + 9 : at + 9 + length]))
        at += 9 + length
    return records


def _string(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from('<I', data, at)
    return data[at + 4 : at + 4 + length].decode(), at + 4 + length
