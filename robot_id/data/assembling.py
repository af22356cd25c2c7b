"""From tables and a mapping to raw samples on the joint side, in SI units."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.channel_values import channel_values
from robot_id.data.cleaning import Raw
from robot_id.data.cutting import cut
from robot_id.data.joint_side import drive_gains, earlier, on_joint_side, per_joint
from robot_id.data.mapping import DRIVE_GAIN, TimeColumn
from robot_id.data.mapping import Mapping as MappingFile
from robot_id.data.tables import Table, read_table
from robot_id.exceptions import DataError

Array = NDArray[np.float64]


def from_tables(
    path: Path,
    mapping: MappingFile,
    joint_names: tuple[str, ...] | None,
    known: Table | None = None,
    known_gains: Mapping[str, float] | None = None,
) -> tuple[list[Raw], list[str]]:
    """
    Return one Raw for each row range (one in all without ranges) and notes of the readers.

    :param path: DATA, a file, or a directory whose files the mapping names.
    :param known: the table of `path` when it was read already.
    :param known_gains: joint -> torque over control signal, of the robot file.
    """
    files = _Files(path, known)

    def gains(n: int, where: str) -> Array:
        return drive_gains(_names(path, mapping, joint_names, n), known_gains or {}, where)

    if mapping.torque is None:
        raise DataError(f"{path}: the mapping has no key 'torque', which a table needs")
    channels: dict[str, Array] = {}
    origin: dict[str, str] = {}
    recorded = mapping.recorded_joints() or joint_names
    for name, channel in mapping.channels().items():
        table = files.get(channel.file, name)
        where = f'{table.path}: {name}'
        raw = channel_values(table, channel, where, recorded, files.notes)
        scale = (
            gains(raw.shape[1], where)
            if channel.scale == DRIVE_GAIN
            else _scale(table, channel.scale, raw.shape[1], where)
        )
        channels[name] = on_joint_side(raw, channel, name, scale, where)
        origin[name] = table.path.name
    for name, values in channels.items():
        _same_shape(path, name, values, channels['position'], origin)
    names = _names(path, mapping, joint_names, channels['position'].shape[1])
    time = _time(path, files, mapping, channels['position'].shape[0])
    for name, channel in mapping.channels().items():
        if channel.delay:
            channels[name] = earlier(time, channels[name], channel.delay, f'{path}: {name}')
    main = files.get(mapping.channels()['position'].file, 'position').path.name
    whole = Raw(str(path), time, channels, names)
    return cut(whole, mapping, main, files.notes, _own_runs(files)), files.notes


class _Files:
    """The files of a data set, each read once."""

    def __init__(self, path: Path, known: Table | None) -> None:
        self.path = path
        self.tables = {known.path: known} if known is not None else {}
        self.notes = list(known.notes) if known is not None else []

    def get(self, file: str | None, key: str) -> Table:
        if file is None:
            if os.path.isdir(self.path):
                raise DataError(f"{self.path}: a directory, and the mapping names no '{key}.file'")
            target = self.path
        else:
            folder = self.path if os.path.isdir(self.path) else self.path.parent
            target = folder / file
            if not os.path.isfile(target):
                raise DataError(f"{target}: no such file (the mapping's '{key}.file')")
        if target not in self.tables:
            table = read_table(target)
            self.tables[target] = table
            self.notes += table.notes
        return self.tables[target]


def _scale(table: Table, scale: float | list[float] | str | None, n: int, where: str) -> Array:
    if scale is None:
        return np.ones(1)
    if not isinstance(scale, str):
        return per_joint(scale, n, f'{where}: scale')
    values = table.variable(scale).ravel()
    if values.size not in (1, n) or not np.isfinite(values).all():
        raise DataError(f"{where}: scale '{scale}' has {values.size} values for {n} joints")
    return values


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
        if mapping.rate_hz is None:
            raise DataError(f"{path}: the mapping has neither 'time' nor 'rate_hz': give one")
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
    names = mapping.called_joints() or wanted
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
