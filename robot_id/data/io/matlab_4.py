"""MATLAB files of version 4: a header of five numbers, a name and the values, for each matrix."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

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
