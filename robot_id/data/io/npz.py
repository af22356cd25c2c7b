"""numpy archives: every array is checked against the memory budget before it is decompressed."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

from numpy.lib import format as npy

from robot_id import budget
from robot_id.exceptions import DataError

_SUFFIX = '.npy'


def read_npz(path: Path) -> dict[str, Any]:
    """Return the arrays of an archive by name; nothing in it is ever executed."""
    found: dict[str, Any] = {}
    length = path.stat().st_size
    taken = 0
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(_SUFFIX)
            if name in found:
                raise DataError(f"{path}: '{name}' appears twice in it")
            taken += _check(path, archive, entry, length, taken)
            with archive.open(entry) as file:
                found[name] = npy.read_array(file, allow_pickle=False)
                # At the very end of a member its checksum is compared, and only there.
                if file.read(1):
                    raise DataError(f"{path}: '{entry.filename}': more bytes than its header says")
    return found


def _check(
    path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, length: int, taken: int
) -> int:
    """Return the bytes of an array from its header; refuse more than the budget leaves."""
    where = f"{path}: '{entry.filename}'"
    with archive.open(entry) as file:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise DataError(f'{where}: an array of an unknown version')
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
    if dtype.hasobject:
        raise DataError(f'{where}: holds objects, only numbers and names are read')
    if any(count < 0 for count in shape):
        raise DataError(f'{where}: a shape of {shape}')
    size = math.prod(shape) * dtype.itemsize
    budget.check_memory(taken + size, length, where)
    if size > entry.file_size:
        raise DataError(f'{where}: {size} bytes in its header, {entry.file_size} in the file')
    return size
