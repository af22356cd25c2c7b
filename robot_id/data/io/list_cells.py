"""Tables whose cells hold lists, such as `0.01,"[0.1, 0.2]","[3.1, 0.4]"`: a column an entry."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError, shorten

Array = NDArray[np.float64]
# A list, in quotes or not, or anything else between two separators.
_CELL = re.compile(r'"?[\[(](?P<list>[^\])]*)[\])]"?|(?P<plain>[^,;\t]+)')
_LIST = re.compile(r'[\[(]\s*[-+]?[\d.][-+\d.eE\s]*[,;\s][-+\d.eE,;\s]*[\])]')
_BETWEEN = re.compile(r'[,;\s]+')


def has_lists(lines: Iterable[str]) -> bool:
    """Whether the line below the header holds lists of numbers."""
    filled = (line for line in lines if line.strip())
    return any(_LIST.search(line) for line in islice(filled, 1, 2))


def read_lists(
    lines: Iterable[str], where: str
) -> tuple[list[str] | None, Array, tuple[str, ...]]:
    """
    Return header, values (N, c) and notes of a table with lists.

    :param lines: of the file, its header first.
    :param where: for messages.
    """
    header: list[str] = []
    names: list[str] = []
    values = array('d')
    for number, line in enumerate((line for line in lines if line.strip()), start=0):
        text = line.strip().lstrip('\ufeff')
        if not number:
            header = [cell.strip().strip('"\'').strip() for cell in re.split(r'[,;\t]', text)]
            continue
        cells = list(_CELL.finditer(text))
        row, called = [], []
        for name, cell in zip(header, cells):
            try:
                entries = _numbers(cell)
            except ValueError as error:
                raise DataError(
                    f"{where}: row {number}, '{name}': '{shorten(cell[0])}' holds no numbers"
                ) from error
            row += entries
            one = cell['list'] is None
            called += [name] if one else [f'{name}[{k + 1}]' for k in range(len(entries))]
        names = names or called
        if len(cells) != len(header) or called != names:
            raise DataError(f'{where}: row {number} has other columns or lists than row 1')
        values.extend(row)
    table = np.array(values, dtype=np.float64).reshape(-1, max(len(names), 1))
    note = f'{where}: lists in cells are columns, such as {names[-1]}' if names else ''
    return names, table, (note,) if note else ()


def _numbers(cell: re.Match[str]) -> list[float]:
    if cell['list'] is None:
        return [float(cell['plain'].strip().strip('"\''))]
    return [float(word) for word in _BETWEEN.split(cell['list'].strip()) if word]
