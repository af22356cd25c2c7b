"""Tables of numbers by column or variable name: csv, csv.gz, MATLAB v5 and v7.3, npz."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.csv_text import read_csv
from robot_id.exceptions import DataError, did_you_mean

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """
    What a file holds.

    :param path: the file.
    :param header: column names of a csv, None without a header and for other files.
    :param values: (N, c) the columns of a csv, None for other files.
    :param variables: the variables of a .mat or .npz, parts of structs as `a.b`.
    :param notes: what had to be mended to read it.
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
            values = np.asarray(self.variables[name], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{self.path}: variable '{name}' is not numeric") from error
        if values.ndim > 2:
            raise DataError(
                f"{self.path}: variable '{name}' has shape {values.shape}, rows and columns wanted"
            )
        if values.ndim < 2 or 1 in values.shape:
            return values.reshape(-1, 1)
        return values


def read_table(path: Path) -> Table:
    """Read a file by its ending; refuse in one line what cannot be read."""
    name = path.name.lower()
    if not path.is_file():
        raise DataError(f'{path}: no such file')
    if path.stat().st_size == 0:
        raise DataError(f'{path}: the file is empty')
    try:
        if name.endswith(('.csv', '.csv.gz', '.txt', '.txt.gz')):
            header, values, notes = read_csv(path)
            return Table(path, header, values, notes=notes)
        if name.endswith('.mat'):
            return Table(path, variables=_read_mat(path))
        if name.endswith('.npz'):
            with np.load(path, allow_pickle=False) as archive:
                return Table(path, variables={key: archive[key] for key in archive.files})
    except (OSError, EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise DataError(f'{path}: cannot be read, truncated or damaged ({error})') from error
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:
        reason = ' '.join(str(error).split())
        raise DataError(f'{path}: cannot be read ({reason})') from error
    raise DataError(f"{path}: no reader for '{path.suffix}'; csv, csv.gz, mat, npz or a bag")


def _read_mat(path: Path) -> dict[str, Any]:
    with path.open('rb') as file:
        start = file.read(128)
    if b'MATLAB 7.3' in start or start.startswith(b'\x89HDF'):
        return _read_hdf5(path)
    from scipy.io import loadmat

    try:
        content = loadmat(path, simplify_cells=True)
    except Exception as error:
        # Damaged bytes end in whatever the parser stumbles over.
        raise ValueError(f'not a MATLAB file, or cut off: {error}') from error
    return _flatten({k: v for k, v in content.items() if not k.startswith('__')})


def _read_hdf5(path: Path) -> dict[str, Any]:
    import h5py  # type: ignore[import-untyped]

    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in 'fiub':
            # MATLAB writes its arrays column by column, so HDF5 shows them transposed.
            found[name.replace('/', '.')] = np.asarray(item).T

    with h5py.File(path, 'r') as file:
        file.visititems(visit)
    return found


def _flatten(content: dict[str, Any], prefix: str = '') -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f'{prefix}{key}.'))
        else:
            flat[prefix + key] = value
    return flat
