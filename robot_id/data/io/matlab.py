"""MATLAB files: version 5 by scipy, version 7.3 by h5py, within the memory budget."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from robot_id import budget

_HEADER, _COMPRESSED = 128, 15
_DEEPEST = 20


def read_mat(path: Path) -> dict[str, Any]:
    """Return the variables of a .mat file, parts of structs as `a.b`."""
    with path.open('rb') as file:
        start = file.read(_HEADER)
    if b'MATLAB 7.3' in start or start.startswith(b'\x89HDF'):
        return _read_hdf5(path)
    from scipy.io import loadmat

    _check_elements(path, 'big' if start[126:128] == b'MI' else 'little')
    try:
        content = loadmat(path, simplify_cells=True)
    except Exception as error:
        # Damaged bytes lead to any exception of the parser.
        raise ValueError(f'not a MATLAB file, or cut off: {error}') from error
    return flatten({k: v for k, v in content.items() if not k.startswith('__')})


def _check_elements(path: Path, order: str) -> None:
    """Decompress the elements of a version 5 file once, without keeping them, to know its size."""
    length = path.stat().st_size
    mark = '<' if order == 'little' else '>'
    total = 0
    with path.open('rb') as file:
        file.seek(_HEADER)
        while len(tag := file.read(8)) == 8:
            kind, size = struct.unpack(f'{mark}II', tag)
            if kind >> 16 or size > length:
                return  # a small element or no such file: scipy says what it is
            if kind == _COMPRESSED:
                total += _unfolded(file.read(size), budget.memory_for(length) - total)
                budget.check_memory(total, length, f'{path}:')
            else:
                total += size
                file.seek(size, 1)


def _unfolded(data: bytes, most: int) -> int:
    """Return how long compressed bytes become, counting only a little beyond `most`."""
    stream, size = zlib.decompressobj(), 0
    while data and size <= most and not stream.eof:
        try:
            size += len(stream.decompress(data, 1 << 20))
        except zlib.error:
            return size
        data = stream.unconsumed_tail
    return size


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
