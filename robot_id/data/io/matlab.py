"""MATLAB files: versions 4 and 5 as they are written, 7.3 by h5py, within the memory budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_id import budget
from robot_id.data.io.matlab_4 import read_mat4
from robot_id.data.io.matlab_5 import read_mat5

_HEADER = 128
_DEEPEST = 20


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
