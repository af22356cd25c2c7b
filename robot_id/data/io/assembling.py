"""From tables and a mapping to raw samples on the joint side, in SI units."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.cleaning.cleaning import Raw
from robot_id.data.cleaning.cutting import cut
from robot_id.data.dataset import LOCK
from robot_id.data.io.tables import Table, read_table
from robot_id.data.joint_side import (
    PD_NOTE,
    RATIO_NOTE,
    constant_values,
    drive_gains,
    earlier,
    on_joint_side,
    pd_torque,
    per_joint,
)
from robot_id.data.mapping import DRIVE_GAIN, Channel, TimeColumn
from robot_id.data.mapping import Mapping as MappingFile
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
# Stands for the recorded name of each joint in names of columns and variables.
JOINT = '{joint}'
# An array that is this many times wider than long has its samples along the rows.
_WIDE = 10


def channel_values(
    table: Table,
    channel: Channel,
    where: str,
    joints: tuple[str, ...] | None,
    notes: list[str],
) -> Array:
    """
    Return (N, n) values of a channel, times those of the columns that multiply them.

    :param where: file and channel for messages.
    :param joints: recorded names of the joints, where they are known.
    :param notes: receives a note if an array was transposed.
    """
    values = _values(table, channel, where, joints, notes)
    if channel.multiplied_by is None:
        return values
    listed = [each for item in channel.multiplied_by for each in _for_joints(item, joints, where)]
    if table.values is not None:
        factors = table.columns(listed)
    else:
        arrays = [table.variable(str(name)) for name in listed]
        _check_lengths(where, [str(name) for name in listed], arrays)
        factors = np.hstack(arrays)
    if factors.shape[0] != values.shape[0] or factors.shape[1] not in (1, values.shape[1]):
        raise DataError(
            f'{where}: multiplied_by is {factors.shape[0]} x {factors.shape[1]}, '
            f'{values.shape[0]} x 1 or {values.shape[0]} x {values.shape[1]} is needed'
        )
    return values * factors


def _values(
    table: Table,
    channel: Channel,
    where: str,
    joints: tuple[str, ...] | None,
    notes: list[str],
) -> Array:
    columns = channel.columns
    if columns is not None:
        columns = [each for item in columns for each in _for_joints(item, joints, where)]
    if channel.variable is None:
        if columns is None:
            raise DataError(f"{where}: the mapping gives neither 'columns' nor 'variable'")
        if channel.transposed is not None:
            raise DataError(f"{where}: 'transposed' is for a 'variable' of a .mat or .npz")
        return table.columns(columns)
    listed = [channel.variable] if isinstance(channel.variable, str) else channel.variable
    listed = [str(each) for item in listed for each in _for_joints(item, joints, where)]
    expected = len(joints) if joints and len(listed) == 1 else None
    arrays = []
    for name in listed:
        values = table.variable(name)
        if _in_rows(values, channel, expected):
            notes.append(
                f"{where}: '{name}' is {values.shape[0]} x {values.shape[1]}, a row for each "
                'joint, and was transposed'
            )
            values = values.T
        arrays.append(values)
    _check_lengths(where, listed, arrays)
    raw = np.hstack(arrays)
    return raw if columns is None else Table(table.path, values=raw).columns(columns)


def _for_joints(
    item: int | str, joints: tuple[str, ...] | None, where: str
) -> Sequence[int | str]:
    if not isinstance(item, str) or JOINT not in item:
        return [item]
    if not joints:
        raise DataError(f"{where}: '{item}' needs the names of the joints: give 'joints'")
    return [item.replace(JOINT, joint) for joint in joints]


def _in_rows(values: Array, channel: Channel, n: int | None) -> bool:
    """
    Return whether an array (as it is in the file) has a row for each joint.

    :param n: joints that it holds, where it is known.
    """
    rows, columns = values.shape
    if columns == 1:
        return False
    if channel.transposed is not None:
        return channel.transposed
    if channel.columns is not None:
        return columns > _WIDE * rows
    if n is not None:
        return rows == n and columns != n
    return rows < columns


def _check_lengths(where: str, names: list[str], arrays: list[Array]) -> None:
    for name, values in zip(names, arrays):
        if values.shape[0] != arrays[0].shape[0]:
            raise DataError(
                f"{where}: '{name}' has {values.shape[0]} rows, '{names[0]}' has "
                f'{arrays[0].shape[0]}'
            )


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

    channels: dict[str, Array] = {}
    origin: dict[str, str] = {}
    recorded = mapping.recorded_joints() or joint_names
    given = mapping.channels()
    constant = {name: each for name, each in given.items() if each.value is not None}
    for name, channel in given.items():
        if name in constant or channel.law == 'pd':
            continue
        table, raw = _recorded(files, channel, name, recorded)
        where = f'{table.path}: {name}'
        scale = (
            gains(raw.shape[1], where)
            if channel.scale == DRIVE_GAIN
            else _scale(table, channel.scale, raw.shape[1], where)
        )
        channels[name] = on_joint_side(raw, channel, name, scale, where)
        origin[name] = table.path.name
    main = files.get(first_file(mapping.position, recorded), 'position').path.name
    if 'position' in constant:
        raise DataError(f"{path}: the mapping's 'position' has a 'value', it must be recorded")
    time = _time(path, files, mapping, recorded, channels['position'].shape[0])
    channels, time = _same_rows(path, channels, time, mapping, main, origin)
    for name, values in channels.items():
        _same_columns(path, name, values, channels['position'], origin)
    names = _names(path, mapping, joint_names, channels['position'].shape[1])
    for name, channel in mapping.channels().items():
        if channel.law == 'pd':
            channels[name] = pd_torque(channel, time, channels, f'{path}: {name}')
            files.notes.append(f'{path}: {name}: {PD_NOTE}')
        elif channel.law is not None:
            files.notes.append(f'{path}: {name}: {RATIO_NOTE.format(channel.law)}')
        if channel.delay and channel.law != 'pd':
            channels[name] = earlier(time, channels[name], channel.delay, f'{path}: {name}')
    samples, n = channels['position'].shape
    for name, channel in constant.items():
        where = f'{path}: {name}'
        channels[name] = constant_values(channel, name, samples, n, path.name, where)
    by_name = mapping.called_joints() is not None or joint_names is not None
    whole = Raw(str(path), time, channels, names, named=by_name)
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
                raise DataError(
                    f"{target}: no such file (the mapping's '{key}.file')", code='no_file'
                )
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


def _same_columns(
    path: Path, name: str, values: Array, position: Array, origin: dict[str, str]
) -> None:
    if values.shape[1] != position.shape[1]:
        raise DataError(
            f'{path}: {name} has {values.shape[1]} columns ({origin[name]}), position has '
            f'{position.shape[1]} ({origin["position"]}): equal lengths are needed'
        )


def _same_rows(
    path: Path,
    channels: dict[str, Array],
    time: Array,
    mapping: MappingFile,
    main: str,
    origin: dict[str, str],
) -> tuple[dict[str, Array], Array]:
    """
    Return channels and time with equal lengths.

    They may differ only behind the rows or seconds that the mapping takes.
    """
    rows = {'time': len(time), **{name: len(values) for name, values in channels.items()}}
    least = min(rows.values())
    if max(rows.values()) > least:
        wanted = [last for _, last in mapping.rows_of(main) or ()]
        until = [last for _, last in mapping.seconds_of(main) or ()]
        reached = time[least - 1] - time[0] if least else 0.0
        if not (wanted and max(wanted) <= least) and not (until and max(until) <= reached):
            short = min(rows, key=lambda name: rows[name])
            long = max(rows, key=lambda name: (rows[name], name == 'position'))
            raise DataError(
                f'{path}: {short} has {rows[short]} rows ({origin.get(short, main)}), {long} has '
                f"{rows[long]} ({origin.get(long, main)}): equal lengths are needed, or 'rows' "
                f'that all of them have, such as [1, {least}], if they begin at the same time',
                code='unequal_lengths',
            )
    return {name: values[:least] for name, values in channels.items()}, time[:least]


def _recorded(
    files: _Files, channel: Channel, name: str, joints: tuple[str, ...] | None
) -> tuple[Table, Array]:
    """Return the (first) table and the (N, n) values of a channel, maybe from a file a joint."""
    table = files.get(first_file(channel, joints), name)
    if channel.file is None or JOINT not in channel.file:
        where = f'{table.path}: {name}'
        return table, channel_values(table, channel, where, joints, files.notes)
    columns = []
    for joint in joints or ():
        own = files.get(channel.file.replace(JOINT, joint), name)
        values = channel_values(own, channel, f'{own.path}: {name}', (joint,), files.notes)
        if values.shape[1] != 1:
            raise DataError(
                f"{own.path}: {name} has {values.shape[1]} columns, a file for each joint ('file: "
                f"{channel.file}') has one"
            )
        columns.append(values)
    # What a shorter file lacks counts as missing samples.
    whole = np.full((max(map(len, columns)), len(columns)), np.nan)
    for j, values in enumerate(columns):
        whole[: len(values), j] = values[:, 0]
    return table, whole


def first_file(channel: Channel | TimeColumn | None, joints: tuple[str, ...] | None) -> str | None:
    """Return the file of a channel, that of the first joint where each has its own."""
    if channel is None or channel.file is None or JOINT not in channel.file:
        return channel.file if channel is not None else None
    if not joints:
        raise DataError(f"'file: {channel.file}' needs the names of the joints: give 'joints'")
    return channel.file.replace(JOINT, joints[0])


def _time(
    path: Path,
    files: _Files,
    mapping: MappingFile,
    joints: tuple[str, ...] | None,
    samples: int,
) -> Array:
    if mapping.time is None:
        if mapping.rate_hz is None:
            raise DataError(f"{path}: the mapping has neither 'time' nor 'rate_hz': give one")
        return np.arange(samples) / mapping.rate_hz
    spec: TimeColumn = mapping.time
    named = spec if spec.file else mapping.position
    first = first_file(named, joints)
    each: list[str | None] = [first]
    if named is not None and named.file != first and named.file and joints:
        each = [named.file.replace(JOINT, joint) for joint in joints]
    times = [_time_of(path, files.get(file, 'time'), spec) for file in each]
    longest = max(times, key=len)
    step = float(np.median(np.abs(np.diff(longest)))) if len(longest) > 1 else 0.0
    for time, file in zip(times, each):
        if len(times) > 1 and np.any(np.abs(time - longest[: len(time)]) > 0.5 * step):
            raise DataError(
                f"{path}: the times of {file} are not those of the other joints' files; joints "
                'that were recorded one after the other are recordings of their own',
                code='unequal_times',
            )
    return longest


def _time_of(path: Path, table: Table, spec: TimeColumn) -> Array:
    if spec.variable is not None:
        time = table.variable(spec.variable)
    elif spec.column is not None:
        time = table.columns([spec.column])
    else:
        raise DataError(f"{path}: the mapping's 'time' gives neither 'column' nor 'variable'")
    if time.shape[1] != 1:
        raise DataError(f'{path}: time has {time.shape[1]} columns')
    return time[:, 0] * units.factor(spec.unit, units.TIME, f'{path}: time')


def _names(
    path: Path, mapping: MappingFile, wanted: tuple[str, ...] | None, n: int
) -> tuple[str, ...]:
    """Return the joint names: of the mapping, of the file, of the robot, or numbered."""
    own = mapping.called_joints()
    names = own or wanted
    if names is None:
        return tuple(f'joint_{number}' for number in range(1, n + 1))
    if len(names) != n:
        fix = '' if own or len(names) < n else f': {LOCK}'
        raise DataError(
            f'{path}: {n} position columns for {len(names)} joints{fix}', code='joint_count'
        )
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
