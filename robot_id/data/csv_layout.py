"""How a table of numbers is written: separator, header, decimal sign, from its first lines."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from robot_id.exceptions import DataError, shorten

MOST_COLUMNS = 10_000


class Layout(NamedTuple):
    """
    How a table is written.

    :param delimiter: between cells, None for blanks.
    :param header: names of the columns, or None.
    :param skip: lines before the data.
    :param comma: whether numbers are written 0,5.
    :param notes: lines that were skipped.
    """

    delimiter: str | None
    header: list[str] | None
    skip: int
    comma: bool = False
    notes: tuple[str, ...] = ()


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
            return Layout(delimiter, header, number + 1, comma, (note,))
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
        opener = gzip.open if self.path.suffix == '.gz' else open
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
    if '_' in cell:  # Python's own way of writing 1_000, nobody else's
        raise ValueError
    return float(cell.replace(',', '.', 1) if comma else cell)


def is_number(cell: str, comma: bool = False) -> bool:
    try:
        number_of(cell, comma)
    except ValueError:
        return False
    return True
