"""Comma-separated numbers, plain or compressed: layout found, read fast, a cut end repaired."""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from array import array
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from robot_id import budget
from robot_id.data.io.list_cells import has_lists, read_lists
from robot_id.exceptions import DataError, shorten

Array = NDArray[np.float64]
LONGEST_LINE = 1 << 20
_BLOCK = 1 << 16
MOST_COLUMNS = 10_000
# A date and time as ISO 8601 has it, in UTC where no zone is given.
_MOMENT = re.compile(
    r'(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:\d\d)?', re.ASCII
)
# The first bytes of a file of gzip.
_GZIP = b'\x1f\x8b'


class Layout(NamedTuple):
    """
    How a table is written.

    :param delimiter: between cells, None for blanks.
    :param header: names of the columns, or None.
    :param skip: lines before the data.
    :param comma: whether numbers are written 0,5.
    :param notes: lines that were skipped.
    :param units: the words of the line below the header, one for each column.
    """

    delimiter: str | None
    header: list[str] | None
    skip: int
    comma: bool = False
    notes: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


def layout_of(path: Path) -> Layout:
    """Return how the table is written, from its first lines."""
    header: list[str] | None = None
    begun = 0
    for number, line in enumerate(islice(Lines(path), 100)):
        text = line.strip().lstrip('\ufeff')
        commented = text.startswith('#')
        text = text.lstrip('# ')
        if not text:
            continue
        delimiter = next((mark for mark in (';', '\t', ',') if mark in text), None)
        cells = [bare(cell) for cell in text.split(delimiter)]
        if len(cells) > MOST_COLUMNS:
            raise DataError(f'{path}: {len(cells)} columns, at most {MOST_COLUMNS} are read')
        plain = all(is_number(cell) for cell in cells)
        comma = not plain and delimiter != ',' and all(is_number(cell, True) for cell in cells)
        if (plain or comma) and not commented:
            return Layout(delimiter, header, begun if header else number, comma)
        if header and not commented:
            return _below_header(path, header, begun, number, cells)
        if len(cells) > 1 or not commented:
            header, begun = cells, number + 1
    if header is not None:
        return Layout(delimiter, header, begun)
    raise DataError(f'{path}: no data in the first 100 lines')


def _below_header(
    path: Path, header: list[str], begun: int, number: int, cells: list[str]
) -> Layout:
    """Return the layout where a line of text follows one: a header's, or a row of units."""
    delimiter = _delimiter_of(path, number)
    words = not any(is_number(cell) for cell in cells)
    for after in islice(Lines(path), number + 1, number + 2):
        row = [bare(cell) for cell in after.strip().split(delimiter)]
        numbers = all(is_number(cell) for cell in row)
        comma = not numbers and delimiter != ',' and all(is_number(cell, True) for cell in row)
        if words and (numbers or comma) and len(row) == len(cells):
            if len(header) != len(cells):  # a title, a comment: the names stand below it
                return Layout(delimiter, cells, number + 1, comma)
            shown = shorten(', '.join(cells))
            note = f"{path.name}: line {number + 1} ('{shown}') is skipped"
            return Layout(delimiter, header, number + 1, comma, (note,), tuple(cells))
    return Layout(delimiter, header, begun)


def _delimiter_of(path: Path, number: int) -> str | None:
    line = next(islice(Lines(path), number, None))
    return next((mark for mark in (';', '\t', ',') if mark in line), None)


class Lines:
    """Lines of a plain or compressed text file, up to where it can be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut = ''
        self.open_end = False

    def __iter__(self) -> Iterator[str]:
        opener = gzip.open if is_compressed(self.path) else open
        with opener(self.path, 'rt', encoding='utf-8', errors='replace') as file:
            try:
                for line in file:
                    self.open_end = not line.endswith('\n')
                    yield line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.cut = str(error)


def bare(cell: str) -> str:
    return cell.strip().strip('"\'').strip()


def number_of(cell: str, comma: bool = False) -> float:
    """Return a number, or a date and time as seconds since 1970."""
    if '_' in cell:  # Python's own way of writing 1_000, nobody else's
        raise ValueError
    if (moment := _MOMENT.fullmatch(cell)) is not None:
        day, clock, part, zone = moment.groups(default='')
        whole = datetime.fromisoformat(f'{day}T{clock}{zone.replace("Z", "") or "+00:00"}')
        return whole.timestamp() + float(f'0.{part or 0}')
    return float(cell.replace(',', '.', 1) if comma else cell)


def is_number(cell: str, comma: bool = False) -> bool:
    try:
        number_of(cell, comma)
    except ValueError:
        return False
    return True


def read_csv(path: Path) -> tuple[list[str] | None, Array, tuple[str, ...]]:
    """
    Return header (or None), values (N, c) and notes of a .csv or .csv.gz file.

    The separator (comma, semicolon, tab or blanks), a decimal comma, quotes, the header and a row
    of units are found from the first lines. A file that was cut off is read up to the last whole
    row.
    """
    _check_size(path)
    if has_lists(Lines(path)):
        return read_lists(Lines(path), str(path))
    layout = layout_of(path)
    header, notes = layout.header, layout.notes
    try:
        if layout.comma:
            raise ValueError  # row by row
        with warnings.catch_warnings(), _open_bytes(path) as file:
            warnings.simplefilter('ignore')  # of a file without rows, reported below
            values = np.loadtxt(
                file, delimiter=layout.delimiter, skiprows=layout.skip, ndmin=2, comments='#',
                quotechar='"',
            )  # fmt: skip
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile):
        values, more = _read_with_care(path, layout)
        notes += more
    if values.size == 0:
        raise DataError(f'{path}: no data rows', code='no_rows')
    if header is not None and len(header) != values.shape[1]:
        raise DataError(
            f'{path}: the header names {len(header)} columns, the rows have {values.shape[1]}'
        )
    return header, values, notes


def _check_size(path: Path) -> None:
    """Go through the bytes once without keeping them: refuse a file that expands too far."""
    length = path.stat().st_size
    with path.open('rb') as file:
        if file.read(2) in (b'\xff\xfe', b'\xfe\xff'):
            raise DataError(f'{path}: UTF-16 text, save it as UTF-8', code='encoding')
    marks = dict.fromkeys((b',', b';', b'\t', b' '), 0)
    rows = line = 0
    with _open_bytes(path) as file:
        try:
            while block := file.read(_BLOCK):
                first, last = block.find(b'\n'), block.rfind(b'\n')
                line = line + len(block) if first < 0 else len(block) - last - 1
                if line > LONGEST_LINE:
                    raise DataError(
                        f'{path}: a line has more than {LONGEST_LINE} characters: damaged, or '
                        'not a table?'
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
    return cast(BinaryIO, gzip.open(path, 'rb') if is_compressed(path) else path.open('rb'))


def is_compressed(path: Path) -> bool:
    """Whether a file is of gzip, whatever its name says."""
    with path.open('rb') as file:
        return file.read(len(_GZIP)) == _GZIP


def _read_with_care(path: Path, layout: Layout) -> tuple[Array, tuple[str, ...]]:
    """Read row by row, to name the place of what is wrong or to keep all before a cut."""
    lines = Lines(path)
    # Flat, 8 bytes a number: lists of lists would take five times as much.
    rows = array('d')
    columns = 0
    fault = ''
    row = 0
    for line in islice(lines, layout.skip, None):
        text = line.split('#', 1)[0].strip().lstrip('\ufeff')
        if not text:
            continue
        if fault:
            raise DataError(fault)
        row += 1
        cells = [bare(cell) for cell in text.split(layout.delimiter)]
        try:
            values = [number_of(cell, layout.comma) if cell else float('nan') for cell in cells]
        except ValueError:
            bad = next(i for i, x in enumerate(cells) if not is_number(x or 'nan', layout.comma))
            shown = shorten(cells[bad])
            fault = f"{path}: row {row}, column {bad + 1}: '{shown}' is not a number"
            continue
        columns = columns or len(values)
        if len(values) != columns:
            fault = f'{path}: row {row} has {len(values)} columns, row 1 has {columns}'
            continue
        rows.extend(values)
    if fault and not lines.open_end:
        raise DataError(fault)
    notes = []
    table = np.array(rows, dtype=np.float64).reshape(-1, max(columns, 1))
    if lines.cut:
        notes.append(
            f'{path.name}: the file is cut off ({lines.cut}); {len(table)} rows were read'
        )
    elif fault:
        notes.append(f'{path.name}: the last row is cut off and left out')
    return table, tuple(notes)
