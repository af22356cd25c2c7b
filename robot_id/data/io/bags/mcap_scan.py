"""
Reading an mcap file from its beginning to its end, or to where it was cut off or damaged.

It needs no index, so all of an interrupted recording is read, and it does less for each message
than a reader that sorts them, so it serves whole files too. Checksums that are there are checked
before a message is given.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from robot_id import budget
from robot_id.data.io.bags import mcap_records as records
from robot_id.data.io.bags.mcap_records import MAGIC, Damage, Topic

__all__ = ['MAGIC', 'McapScan', 'Topic', 'summary']

_RECORD = struct.Struct('<BQ')
_STAMPS = struct.Struct('<HIQ')
_MESSAGE_HEAD = 22
_LATEST_NS = 1 << 63
CUT = 'the end is missing'
# Footer record and the closing magic bytes.
_FOOTER_SIZE = 9 + 20 + 8


class McapScan:
    """
    Messages of an mcap file in the order of the file, up to where it can be read.

    :param path: the file.
    :ivar topics: channels seen so far, by number.
    :ivar complete: whether the end of the data was reached.
    :ivar damage: why not, and `reached` the byte where the sound part ends, of `length`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.topics: dict[int, Topic] = {}
        self.complete = False
        self.damage = ''
        self.reached = 0
        self.length = path.stat().st_size
        self._types: dict[int, str] = {0: ''}

    def messages(self, topics: set[str] | None = None) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, receive time in ns and bytes; stops where the file is cut or damaged.

        :param topics: those wanted, None for all.
        """
        try:
            with self.path.open('rb') as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise Damage('not an mcap file')
                yield from self._file(file, topics)
        except Damage as damage:
            self.damage = str(damage)

    def _file(self, file: BinaryIO, topics: set[str] | None) -> Iterator[tuple[str, int, bytes]]:
        check = zlib.crc32(MAGIC)
        self.reached = len(MAGIC)
        while True:
            head = file.read(_RECORD.size)
            if len(head) < _RECORD.size:
                raise Damage(CUT)
            code, size = _RECORD.unpack(head)
            records.check_opcode(code)
            there = min(size, self.length - self.reached - _RECORD.size)
            budget.check_memory(there, self.length, f'{self.path}: a record')
            record = file.read(there)
            if code == records.DATA_END:
                (whole,) = struct.unpack_from('<I', record.ljust(4, b'\0'))
                if whole and whole != check:
                    raise Damage('the checksum of all data does not match')
                self.complete = True
                return
            check = zlib.crc32(record, zlib.crc32(head, check))
            if code == records.CHUNK:
                data, sound = records.chunk(record, size)
                yield from self._records(data, topics, '' if sound else CUT)
                if not sound:
                    raise Damage(CUT)
            elif there < size:
                raise Damage(CUT)
            else:
                yield from self._records(head + record, topics)
            self.reached += _RECORD.size + size

    def _records(
        self, data: bytes, topics: set[str] | None, cut: str = ''
    ) -> Iterator[tuple[str, int, bytes]]:
        """Go through the records of a chunk, or through one that stands by itself."""
        at, end = 0, len(data)
        wanted: dict[int, str] | None = None
        # A message is given when a sound record follows it: damage begins inside the one before.
        pending: tuple[str, int, bytes] | None = None
        while at + _RECORD.size <= end:
            code, size = _RECORD.unpack_from(data, at)
            body, at = at + 9, at + 9 + size
            if at > end:
                raise Damage(cut or 'a record that is longer than its chunk')
            records.check_opcode(code)
            if pending is not None:
                yield pending
                pending = None
            if code == records.MESSAGE:
                if wanted is None:
                    wanted = {
                        number: topic.name
                        for number, topic in self.topics.items()
                        if topics is None or topic.name in topics
                    }
                if size < _MESSAGE_HEAD:
                    raise Damage('a message that is too short')
                channel, _, received = _STAMPS.unpack_from(data, body)
                if channel in wanted:
                    if received >= _LATEST_NS:
                        raise Damage('a message from beyond the year 2262')
                    pending = wanted[channel], received, data[body + _MESSAGE_HEAD : at]
                elif channel not in self.topics:
                    raise Damage(f'a message of channel {channel}, which does not exist')
            elif code == records.SCHEMA:
                number, name = records.schema(data[body:at])
                self._types[number] = name
            elif code == records.CHANNEL:
                number, topic = records.channel(data[body:at], self._types)
                self.topics[number] = topic
                wanted = None
        if pending is not None:
            yield pending


def summary(path: Path) -> tuple[dict[int, Topic], dict[int, int]]:
    """
    Return channels and message counts by channel number, as the summary behind the data has them.

    :raises Damage: when there is none that can be trusted.
    """
    length = path.stat().st_size
    with path.open('rb') as file:
        file.seek(max(length - _FOOTER_SIZE, 0))
        footer = file.read()
        if len(footer) < _FOOTER_SIZE or not footer.endswith(MAGIC) or footer[0] != records.FOOTER:
            raise Damage(CUT)
        start, _, check = struct.unpack_from('<QQI', footer, 9)
        size = length - _FOOTER_SIZE - start
        if not start or not 0 < size <= budget.memory_for(length):
            raise Damage('no summary')
        file.seek(start)
        data = file.read(size)
    if check and zlib.crc32(footer[:25], zlib.crc32(data)) != check:
        raise Damage('the checksum of the summary does not match')
    types: dict[int, str] = {0: ''}
    topics: dict[int, Topic] = {}
    counts: dict[int, int] = {}
    at = 0
    while at + _RECORD.size <= len(data):
        code, size = _RECORD.unpack_from(data, at)
        record = data[at + 9 : at + 9 + size]
        at += 9 + size
        if at > len(data):
            raise Damage('a record that is longer than the summary')
        if code == records.SCHEMA:
            number, name = records.schema(record)
            types[number] = name
        elif code == records.CHANNEL:
            number, topic = records.channel(record, types)
            topics[number] = topic
        elif code == records.STATISTICS:
            counts = records.counts(record)
    return topics, counts
