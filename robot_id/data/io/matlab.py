"""
MATLAB files: versions 4 and 5 as they are written, 7.3 by h5py, within the memory budget.

A file of version 5 is a header of 128 bytes and elements: a tag with type and size, then that
many bytes. What is read stays inside the bytes that are there, so that no size, type or dimension
in a damaged file can do more than end in a ValueError. Version 4 has a header of five numbers, a
name and the values, for each matrix.
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from robot_id import budget

_HEADER = 128
_DEEPEST = 20
_NUMBERS = {
    1: 'i1', 2: 'u1', 3: 'i2', 4: 'u2', 5: 'i4', 6: 'u4', 7: 'f4', 9: 'f8', 12: 'i8', 13: 'u8',
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _CHAR, _OPAQUE = 1, 2, 4, 17
# Classes of real arrays: double, single, and the integers of 8 to 64 bits.
_NUMERIC = range(6, 16)
_COMPLEX = 0x800
# Characters by the type of their element, names of codecs without the byte order.
_TEXTS = {1: 'latin-1', 2: 'latin-1', 4: 'utf-16', 16: 'utf-8', 17: 'utf-16', 18: 'utf-32'}
# Texts and cells are for the names of joints; longer ones are not read.
_MOST_LETTERS, _MOST_CELLS = 1 << 20, 10_000
_TYPES = ('f8', 'f4', 'i4', 'i2', 'u2', 'u1')
_FULL = 0
# The largest first number of a header in the byte order of the file: MOPT, decimal digits.
_LARGEST_MOPT = 4052


def read_mat4(path: Path) -> dict[str, Any]:
    """Return the real matrices of a file, without dimensions of 1; what is no such is None."""
    raw = memoryview(path.read_bytes())
    order = '<' if struct.unpack_from('<I', raw)[0] <= _LARGEST_MOPT else '>'
    found: dict[str, Any] = {}
    at = 0
    while at < len(raw):
        mopt, rows, columns, imaginary, letters = struct.unpack_from(f'{order}5i', raw, at)
        kind, form = mopt // 10 % 10, mopt % 10
        if not 0 <= mopt <= _LARGEST_MOPT or kind >= len(_TYPES) or min(rows, columns) < 0:
            raise ValueError('not a MATLAB file')
        at += 20
        name = bytes(raw[at : at + letters]).split(b'\0')[0].decode('latin-1')
        at += letters
        dtype = np.dtype(_TYPES[kind])
        size = rows * columns * dtype.itemsize
        payload = raw[at : at + size]
        at += 2 * size if imaginary else size
        if letters < 1 or at > len(raw):
            raise ValueError(f"cut off in '{name}'")
        found[name] = None
        if form == _FULL and not imaginary:
            values = np.frombuffer(payload, dtype.newbyteorder(order)).astype(dtype)  # type: ignore[arg-type]
            found[name] = values.reshape((rows, columns), order='F').squeeze()
    return found


def read_mat5(path: Path) -> dict[str, Any]:
    """
    Return the variables of a file.

    Real arrays keep their type and lose dimensions of 1; structs are dicts, texts str (or arrays
    of str, one for each row), cells lists. What is none of these (sparse or complex arrays,
    arrays of structs, objects, very long texts and lists) is None.
    """
    raw = path.read_bytes()
    order = '>' if raw[126:128] == b'MI' else '<'
    found: dict[str, Any] = {}
    cursor = _Cursor(memoryview(raw)[_HEADER:], order)
    taken = 0
    while cursor.left:
        kind, payload = cursor.element()
        if kind == _COMPRESSED:
            content = _unfolded(path, payload, len(raw), taken)
            taken += len(content)
            kind, payload = _Cursor(memoryview(content), order).element()
        if kind != _MATRIX:
            continue
        name, value = _matrix(payload, order, 0)
        if name in found:
            raise ValueError(f"'{name}' appears twice in it")
        if name:
            found[name] = value
    return found


def _unfolded(path: Path, payload: memoryview, length: int, taken: int) -> bytes:
    """Return compressed bytes as they were, within the memory budget."""
    stream = zlib.decompressobj()
    content = stream.decompress(payload, budget.memory_for(length) - taken + 1)
    budget.check_memory(taken + len(content), length, f'{path}:')
    if not stream.eof:
        raise ValueError('a compressed variable is cut off')
    return content


class _Cursor:
    """A place in a sequence of elements."""

    def __init__(self, data: memoryview, order: str) -> None:
        self.data, self.order, self.at = data, order, 0

    @property
    def left(self) -> bool:
        return self.at < len(self.data)

    def element(self) -> tuple[int, memoryview]:
        """Return the type of the next element and its bytes."""
        tag = self.data[self.at : self.at + 8]
        if len(tag) < 8:
            raise ValueError('cut off')
        kind, size = struct.unpack(f'{self.order}II', tag)
        if kind >> 16:
            # The small form: the size is in the upper half, the values are in the tag.
            kind, size, start = kind & 0xFFFF, kind >> 16, self.at + 4
            if size > 4:
                raise ValueError(f'a small element of {size} bytes')
            self.at += 8
        else:
            start = self.at + 8
            # Compressed variables follow each other without padding.
            self.at = start + size + (0 if kind == _COMPRESSED else -size % 8)
        payload = self.data[start : start + size]
        if len(payload) < size:
            raise ValueError(f'cut off: {size} bytes in a tag, {len(payload)} in the file')
        return kind, payload

    def numbers(self) -> np.ndarray[Any, Any]:
        """Return the values of the next element, (N,)."""
        kind, payload = self.element()
        if kind not in _NUMBERS:
            raise ValueError(f'an element of type {kind} where numbers are expected')
        dtype = np.dtype(_NUMBERS[kind])
        if len(payload) % dtype.itemsize:
            raise ValueError(f'{len(payload)} bytes for numbers of {dtype.itemsize}')
        values = np.frombuffer(payload, dtype.newbyteorder(self.order))  # type: ignore[arg-type]
        return values.astype(dtype)

    def text(self) -> str:
        """Return the characters of the next element."""
        kind, payload = self.element()
        if len(payload) > 4 * _MOST_LETTERS:
            raise ValueError(f'a text of {len(payload)} bytes')
        codec = _TEXTS.get(kind, 'latin-1')
        if codec in ('utf-16', 'utf-32'):
            codec += '-be' if self.order == '>' else '-le'
        return bytes(payload).decode(codec, 'replace')


def _matrix(payload: memoryview, order: str, depth: int) -> tuple[str, Any]:
    """Return the name and the value of a matrix element."""
    if depth > _DEEPEST:
        raise ValueError('structs nested too deeply')
    if not payload:
        return '', None
    cursor = _Cursor(payload, order)
    flags = cursor.numbers()
    if not len(flags):
        raise ValueError('a variable without a class')
    kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) & _COMPLEX)
    if kind == _OPAQUE:
        return cursor.text(), None
    shape = tuple(int(count) for count in cursor.numbers())
    name = cursor.text()
    size = math.prod(shape)
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"'{name}' has a shape of {shape}")
    if kind == _CELL and size <= _MOST_CELLS:
        return name, [_inner(cursor, depth) for _ in range(size)]
    if kind == _STRUCT and size == 1:
        width = cursor.numbers()
        listed = cursor.text()
        if len(width) != 1 or not 0 < width[0] <= max(len(listed), 1):
            raise ValueError(f"names of the fields of '{name}'")
        fields = [
            listed[k : k + int(width[0])].split('\0')[0]
            for k in range(0, len(listed), int(width[0]))
        ]
        return name, {field: _inner(cursor, depth) for field in fields}
    if kind == _CHAR and size <= _MOST_LETTERS:
        letters = list(cursor.text()) if cursor.left else []
        return name, _rows(_shaped(letters, shape, size, name))
    if kind in _NUMERIC and not is_complex:
        values = _shaped(cursor.numbers(), shape, size, name)
        return name, values.squeeze()
    return name, None


def _inner(cursor: _Cursor, depth: int) -> Any:
    kind, payload = cursor.element()
    if kind != _MATRIX:
        raise ValueError(f'an element of type {kind} in a struct or cell')
    return _matrix(payload, cursor.order, depth + 1)[1]


def _shaped(values: Any, shape: tuple[int, ...], size: int, name: str) -> np.ndarray[Any, Any]:
    """Return values column by column, as MATLAB keeps them."""
    if len(values) != size:
        raise ValueError(f"'{name}' of shape {shape} has {len(values)} values")
    return np.array(values).reshape(shape, order='F')


def _rows(letters: np.ndarray[Any, Any]) -> Any:
    """Return the text of one row, or an array of the texts of all."""
    rows = [''.join(row) for row in letters.reshape(len(letters), -1)]
    return rows[0] if len(rows) == 1 else np.array(rows, dtype=str)


def read_mat(path: Path) -> dict[str, Any]:
    """Return the variables of a .mat file, parts of structs as `a.b`."""
    with path.open('rb') as file:
        start = file.read(_HEADER)
    if b'MATLAB 7.3' in start or start.startswith(b'\x89HDF'):
        return _read_hdf5(path)
    return flatten(read_mat4(path) if b'\0' in start[:4] else read_mat5(path))


def _read_hdf5(path: Path) -> dict[str, Any]:
    import h5py  # type: ignore[import-untyped]

    found: dict[str, Any] = {}
    length = path.stat().st_size
    taken = 0

    def visit(name: str, item: Any) -> None:
        nonlocal taken
        if isinstance(item, h5py.Dataset) and item.dtype.kind in 'fiub':
            taken += int(item.size or 0) * item.dtype.itemsize
            budget.check_memory(taken, length, f"{path}: '{name}'")
            # MATLAB writes its arrays column by column, so HDF5 shows them transposed.
            found[name.replace('/', '.')] = np.asarray(item).T

    with h5py.File(path, 'r') as file:
        file.visititems(visit)
    return found


def flatten(content: dict[str, Any], prefix: str = '', depth: int = 0) -> dict[str, Any]:
    """Return the values of nested tables by their whole names, `a.b`."""
    if depth > _DEEPEST:
        raise ValueError('structs nested too deeply')
    flat: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f'{prefix}{key}.', depth + 1))
        else:
            flat[prefix + key] = value
    return flat
