"""Tables of numbers by column or variable name: csv, csv.gz, MATLAB v5 and v7.3, npz, json."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.io.csv import read_csv
from robot_id.data.io.json import read_json
from robot_id.data.io.matlab import read_mat
from robot_id.data.io.npz import read_npz
from robot_id.data.io.parquet import read_parquet
from robot_id.exceptions import DataError, did_you_mean

Array = NDArray[np.float64]
# Endings of pickled arrays, of torch and joblib too.
PICKLED = ('.pkl', '.pickle', '.pt', '.pth', '.joblib', '.p', '.dill')


@dataclass(frozen=True)
class Table:
    """
    The content of a file.

    :param path: the file.
    :param header: column names of a csv, None without a header and for other files.
    :param values: (N, c) the columns of a csv, None for other files.
    :param variables: the variables of a .mat, .npz or .json, parts of structs as `a.b`.
    :param notes: notes on repairs.
    """

    path: Path
    header: list[str] | None = None
    values: Array | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def columns(self, wanted: list[int | str]) -> Array:
        """Return csv columns by number (from 1) or header name, (N, len(wanted))."""
        if self.values is None:
            names = ', '.join(self.variables)
            raise DataError(f"{self.path}: has no columns; name a 'variable' of {names}")
        count = self.values.shape[1]
        index = []
        for column in wanted:
            if isinstance(column, int):
                if not 1 <= column <= count:
                    raise DataError(f'{self.path}: no column {column}, it has 1 to {count}')
                index.append(column - 1)
            elif self.header is None:
                raise DataError(
                    f"{self.path}: column '{column}' is named but there is no header, use numbers"
                )
            elif column not in self.header:
                raise DataError(
                    f"{self.path}: no column '{column}', {did_you_mean(column, self.header)}"
                )
            elif self.header.count(column) > 1:
                raise DataError(f"{self.path}: column '{column}' appears twice, use numbers")
            else:
                index.append(self.header.index(column))
        return self.values[:, index]

    def variable(self, name: str) -> Array:
        """Return a numeric variable as (N, c); a vector becomes one column."""
        if name not in self.variables:
            if self.values is not None:
                raise DataError(f"{self.path}: a csv has columns, no variable '{name}'")
            raise DataError(
                f"{self.path}: no variable '{name}', {did_you_mean(name, self.variables)}"
            )
        try:
            raw = np.asarray(self.variables[name])
            if raw.dtype.kind not in 'fiub':
                raise TypeError
            values = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{self.path}: variable '{name}' is not numeric, real numbers are needed",
                code='not_numeric',
            ) from error
        if values.ndim > 2:
            raise DataError(
                f"{self.path}: variable '{name}' has shape {values.shape}, a matrix of rows and "
                'columns is needed'
            )
        if values.ndim < 2 or 1 in values.shape:
            return values.reshape(-1, 1)
        return values


def read_table(path: Path) -> Table:
    """Read a file by its ending; refuse in one line what cannot be read."""
    name = path.name.lower()
    if not os.path.isfile(path):
        raise DataError(f'{path}: no such file')
    if path.stat().st_size == 0:
        raise DataError(f'{path}: the file is empty')
    try:
        if name.endswith(('.csv', '.csv.gz', '.txt', '.txt.gz')):
            header, values, notes = read_csv(path)
            return Table(path, header, values, notes=notes)
        if name.endswith('.mat'):
            return Table(path, variables=read_mat(path))
        if name.endswith('.npz'):
            return Table(path, variables=read_npz(path))
        if name.endswith('.parquet'):
            return Table(path, variables=read_parquet(path))
        if name.endswith(('.json', '.jsonl')):
            return Table(path, variables=read_json(path))
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(f'{path}: not enough memory to read it') from error
    except Exception as error:
        # Damaged bytes lead to any exception of the libraries.
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise DataError(
            f'{path}: cannot be read, damaged or not of this format ({reason})', code='unreadable'
        ) from error
    if name.endswith(PICKLED):
        raise DataError(
            f'{path}: a pickled file can run any program when it is opened, so it is never read; '
            'write its arrays where it was made: numpy.savez(FILE.npz, time=..., position=..., '
            'reference_position=...)'
        )
    raise DataError(
        f"{path}: no reader for '{path.suffix}'; use csv, csv.gz, mat, npz, json, parquet, a "
        'LeRobot data set or a bag',
        code='no_reader',
    )
