"""Records of an mcap file, each checked against the available bytes before it is used."""

from __future__ import annotations

import struct
import sys
import zlib
from typing import Any, NamedTuple

from robot_id import budget
from robot_id.extras import MissingExtra, missing_extra

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = range(1, 7)
STATISTICS, DATA_END = 11, 15
# Opcodes that may stand between the magic bytes; more are reserved or private.
_KNOWN = range(1, 16)
_PRIVATE = 0x80
_LONGEST_NAME = 4096


class Damage(Exception):
    """Bytes that are not such a record; the message says why."""


class Topic(NamedTuple):
    """A channel of the file."""

    name: str
    type: str


def check_opcode(code: int) -> None:
    """Refuse a record that no mcap file has."""
    if code not in _KNOWN and code < _PRIVATE:
        raise Damage(f'a record of kind {code}')


def text(data: bytes, at: int) -> tuple[str, int]:
    """Return a string and where it ends."""
    (length,) = _unpack('<I', data, at)
    end = at + 4 + length
    if end > len(data):
        raise Damage('a text that is longer than its record')
    try:
        return data[at + 4 : end].decode(), end
    except UnicodeDecodeError:
        raise Damage('a text that cannot be decoded') from None


def name(data: bytes, at: int) -> tuple[str, int]:
    """Return the name of a topic or type and where it ends."""
    found, end = text(data, at)
    if not 0 < len(found) <= _LONGEST_NAME or not found.isprintable():
        raise Damage('an invalid name')
    return found, end


def schema(record: bytes) -> tuple[int, str]:
    """Return number and type name of a schema record."""
    (number,) = _unpack('<H', record, 0)
    return number, name(record, 2)[0]


def channel(record: bytes, types: dict[int, str]) -> tuple[int, Topic]:
    """Return number and topic of a channel record."""
    number, kind = _unpack('<HH', record, 0)
    if kind not in types:
        raise Damage(f'a channel of the type number {kind}, which does not exist')
    return number, Topic(name(record, 4)[0], types[kind])


def chunk(record: bytes, length: int) -> tuple[bytes, bool]:
    """
    Return the records inside a chunk, and whether all of them are there and sound.

    A chunk that is cut off gives what can be unpacked of it; its checksum is then of no use.

    :param record: the chunk, maybe cut off.
    :param length: bytes that it should have.
    """
    _, _, size, check = _unpack('<QQQI', record, 0)
    compression, at = text(record, 28)
    (stored,) = _unpack('<Q', record, at)
    if at + 8 + stored > length:
        raise Damage('a chunk that is longer than its record')
    if size > budget.memory_for(length):
        raise Damage(f'a chunk of {size} bytes')
    data = _unpacked(record[at + 8 : at + 8 + stored], compression, size)
    if len(record) < length:
        return data, False
    if len(data) != size:
        raise Damage(f'a chunk of {len(data)} bytes instead of {size}')
    if check and zlib.crc32(data) != check:
        raise Damage('a chunk whose checksum does not match')
    return data, True


def _unpacked(data: bytes, compression: str, size: int) -> bytes:
    """Decompress at most `size` bytes; a stream that is cut gives what is there of it."""
    if compression == '':
        return data
    if compression not in ('zstd', 'lz4'):
        raise Damage(f"a chunk with the unknown compression '{compression[:20]}'")
    unpacker = _unpacker(compression)
    try:
        return bytes(unpacker.decompress(data, max_length=size))
    except Exception as error:
        # Each library has errors of its own for bytes that it did not pack.
        raise Damage(f'a chunk that cannot be unpacked ({error})') from error


def _unpacker(compression: str) -> Any:
    """Return the decompressor of a chunk; only compressed recordings need its library."""
    try:
        if compression == 'lz4':
            import lz4.frame  # type: ignore[import-untyped]

            return lz4.frame.LZ4FrameDecompressor()
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        return zstd.ZstdDecompressor()
    except ModuleNotFoundError as error:
        raise (missing_extra(error) or MissingExtra('rosbags')) from error


def counts(record: bytes) -> dict[int, int]:
    """Return the messages of each channel, of a statistics record."""
    at = 8 + 2 + 4 * 4 + 8 + 8
    (size,) = _unpack('<I', record, at)
    at += 4
    if at + size > len(record):
        raise Damage('statistics that are longer than their record')
    return dict(struct.iter_unpack('<HQ', record[at : at + size - size % 10]))


def _unpack(form: str, data: bytes, at: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(form, data, at)
    except struct.error:
        raise Damage('a record that is too short') from None
