"""Comma-separated numbers, plain or compressed: found out, read fast, mended at the end."""

from __future__ import annotations

import gzip
import warnings
import zlib
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from robot_id import budget
from robot_id.exceptions import DataError, shorten

Array = NDArray[np.float64]

MOST_COLUMNS = 10_000
LONGEST_LINE = 1 << 20
_BLOCK = 1 << 16


def read_csv(path: Path) -> tuple[list[str] | None, Array, tuple[str, ...]]:
    """
    Return header (or None), values (N, c) and notes of a .csv or .csv.gz file.

    The separator (comma, semicolon, tab or blanks) and the header are found from the first lines.
    A file that was cut off is read up to the last whole row.
    """
    _check_size(path)
    delimiter, header, skip = _layout(path)
    notes: tuple[str, ...] = ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # of a file without rows, told below
            values = np.loadtxt(path, delimiter=delimiter, skiprows=skip, ndmin=2, comments='#')
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile):
        values, notes = _read_with_care(path, delimiter, skip)
    if values.size == 0:
        raise DataError(f'{path}: no data rows')
    if header is not None and len(header) != values.shape[1]:
        raise DataError(
            f'{path}: the header names {len(header)} columns, the rows have {values.shape[1]}'
        )
    return header, values, notes


def _check_size(path: Path) -> None:
    """Go through the bytes once, holding none: what unfolds too far is refused before it does."""
    length = path.stat().st_size
    marks = dict.fromkeys((b',', b';', b'\t', b' '), 0)
    rows = line = 0
    with _open_bytes(path) as file:
        try:
            while block := file.read(_BLOCK):
                first, last = block.find(b'\n'), block.rfind(b'\n')
                line = line + len(block) if first < 0 else len(block) - last - 1
                if line > LONGEST_LINE:
                    raise DataError(
                        f'{path}: a line of more than {LONGEST_LINE} signs, damaged or no table?'
                    )
                rows += block.count(b'\n')
                for mark in marks:
                    marks[mark] += block.count(mark)
                # The rows are collected in pieces and put together once.
                cells = rows + max(marks.values())
                budget.check_memory(2 * 8 * cells, length, f'{path}: its table')
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return  # cut off: what is there is read below


def _open_bytes(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, 'rb') if path.suffix == '.gz' else path.open('rb'))


def _layout(path: Path) -> tuple[str | None, list[str] | None, int]:
    """Return the separator, the header, and the number of lines to skip before the data."""
    for number, line in enumerate(islice(_Lines(path), 100)):
        text = line.strip().lstrip('\ufeff')
        if not text:
            continue
        commented = text.startswith('#')
        text = text.lstrip('# ')
        delimiter = next((mark for mark in (',', ';', '\t') if mark in text), None)
        cells = [cell.strip().strip('"\'') for cell in text.split(delimiter)]
        if len(cells) > MOST_COLUMNS:
            raise DataError(f'{path}: {len(cells)} columns, at most {MOST_COLUMNS} are read')
        if all(_is_number(cell) for cell in cells):
            return delimiter, None, number
        if commented and len(cells) < 2:
            continue
        return delimiter, cells, number + 1
    raise DataError(f'{path}: no data in the first 100 lines')


def _read_with_care(path: Path, delimiter: str | None, skip: int) -> tuple[Array, tuple[str, ...]]:
    """Read row by row, to name the place of what is wrong or to keep all before a cut."""
    lines = _Lines(path)
    # Flat, 8 bytes a number: lists of lists would take five times as much.
    rows = array('d')
    columns = 0
    complaint = ''
    row = 0
    for line in islice(lines, skip, None):
        text = line.split('#', 1)[0].strip()
        if not text:
            continue
        if complaint:
            raise DataError(complaint)
        row += 1
        cells = text.split(delimiter)
        try:
            values = [_number(cell) if cell.strip() else float('nan') for cell in cells]
        except ValueError:
            bad = next(i for i, cell in enumerate(cells) if not _is_number(cell or 'nan'))
            shown = shorten(cells[bad].strip())
            complaint = f"{path}: row {row}, column {bad + 1}: '{shown}' is not a number"
            continue
        columns = columns or len(values)
        if len(values) != columns:
            complaint = f'{path}: row {row} has {len(values)} columns, row 1 has {columns}'
            continue
        rows.extend(values)
    if complaint and not lines.open_end:
        raise DataError(complaint)
    notes = []
    table = np.array(rows, dtype=np.float64).reshape(-1, max(columns, 1))
    if lines.cut:
        notes.append(
            f'{path.name}: the file is cut off ({lines.cut}); {len(table)} rows were read'
        )
    elif complaint:
        notes.append(f'{path.name}: the last row is cut off and left out')
    return table, tuple(notes)


class _Lines:
    """Lines of a plain or compressed text file, up to where it can be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut = ''
        self.open_end = False

    def __iter__(self) -> Iterator[str]:
        opener = gzip.open if self.path.suffix == '.gz' else open
        with opener(self.path, 'rt', encoding='utf-8', errors='replace') as file:
            try:
                for line in file:
                    self.open_end = not line.endswith('\n')
                    yield line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.cut = str(error)


def _number(cell: str) -> float:
    if '_' in cell:  # Python's own way of writing 1_000, nobody else's
        raise ValueError
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True
