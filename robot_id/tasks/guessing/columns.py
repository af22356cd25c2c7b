"""The columns of an unknown file, whatever its format, and how a mapping names them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.io.tables import Table, read_table
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
# Columns that are looked at, and samples of each: more tell nothing new.
MOST_COLUMNS = 1000
MOST_SAMPLES = 20_000
ENDINGS = ('.csv', '.csv.gz', '.txt', '.txt.gz', '.mat', '.npz', '.json', '.parquet')


@dataclass(frozen=True, eq=False)
class Column:
    """
    One column of numbers.

    :param name: of the header or the variable, '' where there is none.
    :param values: (N,) as they are in the file.
    :param key: number from 1 or name in a csv; of a variable its number from 1.
    :param variable: that holds it, None in a csv.
    :param wide: whether the variable has a row for each joint.
    :param width: columns of the variable.
    """

    name: str
    values: Array
    key: int | str
    variable: str | None = None
    wide: bool = False
    width: int = 1

    @property
    def label(self) -> str:
        """Return what people call it."""
        if self.variable is not None:
            return self.name
        return self.name or f'column {self.key}'


def columns_of(path: Path) -> list[Column]:
    """
    Return the columns of a table, at most MOST_SAMPLES consecutive samples of each.

    :raises DataError: where there is none, or the file cannot be read.
    """
    table = read_table(path)
    found = _of_csv(table) if table.values is not None else _of_variables(table)
    if not found:
        raise DataError(f'{path}: no column of numbers in it', code='no_columns')
    if len(found) > MOST_COLUMNS:
        raise DataError(f'{path}: {len(found)} columns, at most {MOST_COLUMNS} are looked at')
    longest = max(len(column.values) for column in found)
    return [column for column in found if len(column.values) == longest]


def tables_in(folder: Path) -> list[Path]:
    """Return the tables of a folder, sorted by name."""
    return sorted(
        path for path in folder.iterdir()
        if path.name.lower().endswith(ENDINGS) and os.path.isfile(path)
    )  # fmt: skip


def channel_keys(columns: Sequence[Column]) -> dict[str, Any]:
    """Return the keys of a mapping's channel that take these columns, in this order."""
    if columns[0].variable is None:
        return {'columns': [column.key for column in columns]}
    names = list(dict.fromkeys(str(column.variable) for column in columns))
    wide = {'transposed': True} if columns[0].wide else {}
    numbers = [column.key for column in columns]
    if len(names) == sum({str(c.variable): c.width for c in columns}.values()):
        return {'variable': names if len(names) > 1 else names[0], **wide}
    widths = {str(column.variable): column.width for column in columns}
    if len(names) == 1 and numbers == list(range(1, widths[names[0]] + 1)):
        return {'variable': names[0], **wide}
    starts = dict(zip(names, np.cumsum([0, *widths.values()]).tolist()))
    at = [starts[str(column.variable)] + int(column.key) for column in columns]
    return {'variable': names if len(names) > 1 else names[0], 'columns': at, **wide}


def time_keys(column: Column) -> dict[str, Any]:
    """Return the keys of a mapping's time that take this column."""
    if column.variable is None:
        return {'column': column.key}
    return {'variable': column.variable}


def _of_csv(table: Table) -> list[Column]:
    assert table.values is not None
    values = table.values[:MOST_SAMPLES]
    header = table.header or [''] * values.shape[1]
    return [
        Column(name, values[:, k], name if name and header.count(name) == 1 else k + 1)
        for k, name in enumerate(header)
    ]


def _of_variables(table: Table) -> list[Column]:
    found: list[Column] = []
    for name, content in table.variables.items():
        try:
            values = np.array(content, dtype=np.float64)
        except (TypeError, ValueError):
            continue  # words, or lists of unequal lengths
        if values.ndim not in (1, 2) or max(values.shape, default=0) < 3:
            continue
        values = values.reshape(-1, 1) if values.ndim == 1 or 1 in values.shape else values
        wide = values.shape[0] < values.shape[1]
        block = np.ascontiguousarray((values.T if wide else values)[:MOST_SAMPLES])
        many = block.shape[1] > 1
        found += [
            Column(
                f'{name}[{k + 1}]' if many else name,
                block[:, k],
                k + 1,
                name,
                wide,
                block.shape[1],
            )
            for k in range(block.shape[1])
        ]
    return found
