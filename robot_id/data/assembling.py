"""From tables and a mapping to raw samples on the joint side, in SI units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.cleaning import Raw
from robot_id.data.mapping import DRIVE_GAIN, Channel, TimeColumn
from robot_id.data.mapping import Mapping as MappingFile
from robot_id.data.tables import Table, read_table
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
# (number of joints, place for messages) -> (n,) drive gains.
Gains = Callable[[int, str], Array]


def from_tables(
    path: Path,
    mapping: MappingFile,
    joint_names: tuple[str, ...] | None,
    known: Table | None = None,
    drive_gains: Mapping[str, float] | None = None,
) -> tuple[list[Raw], list[str]]:
    """
    Return one Raw for each row range (one in all without ranges) and notes of the readers.

    :param path: DATA, a file, or a directory whose files the mapping names.
    :param known: the table of `path` when it was read already.
    :param drive_gains: joint -> torque over control signal, of the robot file.
    """
    files = _Files(path, known)

    def gains(n: int, where: str) -> Array:
        return _gains(_names(path, mapping, joint_names, n), drive_gains or {}, where)

    channels: dict[str, Array] = {}
    origin: dict[str, str] = {}
    for name, channel in mapping.channels().items():
        table = files.get(channel.file, name)
        channels[name] = _values(table, channel, name, gains)
        origin[name] = table.path.name
    for name, values in channels.items():
        _same_shape(path, name, values, channels['position'], origin)
    names = _names(path, mapping, joint_names, channels['position'].shape[1])
    time = _time(path, files, mapping, channels['position'].shape[0])
    for name, channel in mapping.channels().items():
        if channel.delay:
            channels[name] = _earlier(time, channels[name], channel.delay)
    main = files.get(mapping.channels()['position'].file, 'position').path.name
    ranges = mapping.rows_of(main) or _own_runs(files)
    whole = [[1, time.shape[0]]]
    pieces = []
    for first, last in ranges or whole:
        if not 1 <= first < last <= time.shape[0]:
            raise DataError(
                f'{path}: rows {first} to {last} are not within the rows 1 to {time.shape[0]}'
            )
        rows = slice(first - 1, last)
        pieces.append(
            Raw(
                str(path),
                time[rows],
                {name: values[rows] for name, values in channels.items()},
                names,
                first_row=first,
            )
        )
    return pieces, files.notes


class _Files:
    """The files of a data set, each read once."""

    def __init__(self, path: Path, known: Table | None) -> None:
        self.path = path
        self.tables = {known.path: known} if known is not None else {}
        self.notes = list(known.notes) if known is not None else []

    def get(self, file: str | None, key: str) -> Table:
        if file is None:
            if self.path.is_dir():
                raise DataError(f"{self.path}: a directory, and the mapping names no '{key}.file'")
            target = self.path
        else:
            folder = self.path if self.path.is_dir() else self.path.parent
            target = folder / file
            if not target.is_file():
                raise DataError(f"{target}: no such file (the mapping's '{key}.file')")
        if target not in self.tables:
            table = read_table(target)
            self.tables[target] = table
            self.notes += table.notes
        return self.tables[target]


def _values(table: Table, channel: Channel, name: str, gains: Gains) -> Array:
    """Return a channel in SI units on the joint side, (N, n)."""
    where = f'{table.path}: {name}'
    if channel.variable is not None:
        listed = [channel.variable] if isinstance(channel.variable, str) else channel.variable
        raw = np.hstack(_same_length(where, listed, [table.variable(each) for each in listed]))
        if channel.columns is not None:
            raw = Table(table.path, values=raw).columns(channel.columns)
    elif channel.columns is not None:
        raw = table.columns(channel.columns)
    else:
        raise DataError(f"{where}: the mapping gives neither 'columns' nor 'variable'")
    factor = units.factor(channel.unit, units.OF_CHANNEL[name], where)
    n = raw.shape[1]
    scale = (
        gains(n, where) if channel.scale == DRIVE_GAIN else _scale(table, channel.scale, n, where)
    )
    values = raw * (factor * scale)
    if channel.motor_matrix is not None:
        matrix = np.array(channel.motor_matrix, dtype=float)
        if matrix.shape != (n, n):
            raise DataError(f'{where}: motor_matrix is {matrix.shape}, {n} x {n} is needed')
        if name in ('torque', 'control', 'temperature'):
            values = values @ matrix.T
        elif np.linalg.matrix_rank(matrix) < n:
            raise DataError(f'{where}: motor_matrix is singular')
        else:
            values = np.linalg.solve(matrix, values.T).T
    if channel.offset is not None:
        values = values + _per_joint(channel.offset, n, f'{where}: offset')
    return np.ascontiguousarray(values)


def _gains(names: tuple[str, ...], known: Mapping[str, float], where: str) -> Array:
    """(n,) the drive gains of the robot file."""
    for name in names:
        if name not in known:
            raise DataError(
                f"{where}: scale '{DRIVE_GAIN}' is that of the robot file, and joint '{name}' has "
                f"none: give the robot its '{DRIVE_GAIN}', or a number as 'scale'"
            )
    return np.array([known[name] for name in names])


def _scale(table: Table, scale: float | list[float] | str | None, n: int, where: str) -> Array:
    if scale is None:
        return np.ones(1)
    if not isinstance(scale, str):
        return _per_joint(scale, n, f'{where}: scale')
    values = table.variable(scale).ravel()
    if values.size not in (1, n) or not np.isfinite(values).all():
        raise DataError(f"{where}: scale '{scale}' has {values.size} values for {n} joints")
    return values


def _per_joint(value: float | list[float], n: int, where: str) -> Array:
    values = np.atleast_1d(np.asarray(value, dtype=float))
    if values.size not in (1, n):
        raise DataError(f'{where} has {values.size} values for {n} joints')
    return values


def _earlier(time: Array, values: Array, delay: float) -> Array:
    """Return values that were recorded late, taken at their own times; the ends are held."""
    if np.any(np.diff(time) <= 0):
        raise DataError("'delay' needs times that only increase")
    return np.column_stack([np.interp(time + delay, time, column) for column in values.T])


def _same_length(where: str, names: list[str], arrays: list[Array]) -> list[Array]:
    for name, values in zip(names, arrays):
        if values.shape[0] != arrays[0].shape[0]:
            raise DataError(
                f"{where}: '{name}' has {values.shape[0]} rows, '{names[0]}' has "
                f'{arrays[0].shape[0]}'
            )
    return arrays


def _same_shape(
    path: Path, name: str, values: Array, position: Array, origin: dict[str, str]
) -> None:
    for axis, what in ((0, 'rows'), (1, 'columns')):
        if values.shape[axis] != position.shape[axis]:
            raise DataError(
                f'{path}: {name} has {values.shape[axis]} {what} ({origin[name]}), position has '
                f'{position.shape[axis]} ({origin["position"]}): equal lengths are needed'
            )


def _time(path: Path, files: _Files, mapping: MappingFile, samples: int) -> Array:
    if mapping.time is None:
        assert mapping.rate_hz is not None
        return np.arange(samples) / mapping.rate_hz
    spec: TimeColumn = mapping.time
    file = spec.file or (mapping.position.file if mapping.position else None)
    table = files.get(file, 'time')
    if spec.variable is not None:
        time = table.variable(spec.variable)
    elif spec.column is not None:
        time = table.columns([spec.column])
    else:
        raise DataError(f"{path}: the mapping's 'time' gives neither 'column' nor 'variable'")
    if time.shape[1] != 1:
        raise DataError(f'{path}: time has {time.shape[1]} columns')
    if time.shape[0] != samples:
        raise DataError(f'{path}: time has {time.shape[0]} rows, position has {samples}')
    return time[:, 0] * units.factor(spec.unit, units.TIME, f'{path}: time')


def _names(
    path: Path, mapping: MappingFile, wanted: tuple[str, ...] | None, n: int
) -> tuple[str, ...]:
    """Return the joint names: of the mapping, of the file, of the robot, or numbered."""
    names = tuple(mapping.joints) if mapping.joints else wanted
    if names is None:
        return tuple(f'joint_{number}' for number in range(1, n + 1))
    if len(names) != n:
        raise DataError(f'{path}: {n} position columns for {len(names)} joints')
    return names


def _own_runs(files: _Files) -> list[list[int]] | None:
    """Return the row ranges of a table that numbers its runs, as our own files do."""
    for table in files.tables.values():
        if table.header is not None and 'run' in table.header:
            number = table.columns(['run'])[:, 0]
        elif 'run' in table.variables:
            number = table.variable('run')[:, 0]
        else:
            continue
        starts = [0, *(np.flatnonzero(np.diff(number) != 0) + 1).tolist(), number.size]
        return [[first + 1, last] for first, last in pairwise(starts)]
    return None
