"""The mapping of a table with the names of columns or variables that robot_id uses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_id.data.io.csv import layout_of
from robot_id.data.io.tables import Table, read_table
from robot_id.data.mapping import CHANNELS, Channel, Mapping, TimeColumn, shipped_mappings
from robot_id.data.unit_words import unit_of
from robot_id.data.units import OF_CHANNEL, SIGNAL, TIME
from robot_id.exceptions import DataError

# Short names of variables that are accepted too.
_SHORT = {
    'position': 'q',
    'velocity': 'dq',
    'torque': 'tau',
    'reference_position': 'q_ref',
    'reference_velocity': 'dq_ref',
    'reference_acceleration': 'ddq_ref',
}
_NO_TIME = "robot-id init writes a mapping; samples at a constant rate have 'rate_hz' in it"


def guess_mapping(path: Path) -> tuple[Mapping, Table]:
    """
    Return the mapping and table of a file with our own names; refuse others with advice.

    A csv has the header `time`, `position.<joint>`, `torque.<joint>` and so on; the others have
    variables of these names, or `time`, `position`, `torque` and so on, (N, n) each, and maybe
    `joint_names`.
    """
    table = read_table(path)
    return mapping_of(table), table


def mapping_of(table: Table) -> Mapping:
    """Return the mapping of a table with our own names; refuse others with advice."""
    mapping = _of_variables(table) or _of_names(table)
    if mapping is None:
        names = table.header or list(table.variables)
        shown = f'it has {", ".join(names[:12])}' if names else 'it has no header'
        raise DataError(
            f'{table.path}: cannot tell what the columns hold ({shown}); give a mapping: '
            f'robot-id init writes one, {", ".join(shipped_mappings())} are there',
            code='unknown_columns',
        )
    return mapping


def _of_names(table: Table) -> Mapping | None:
    """Return the mapping of `time`, `position.<joint>` ..., the columns of a csv or variables."""
    header = list(table.variables) if table.header is None else table.header
    kind = 'variable' if table.header is None else 'columns'
    prefix = 'position.'
    joints = [name.removeprefix(prefix) for name in header if name.startswith(prefix)]
    time = next((name for name in ('time', 't') if name in header), None)
    if not joints:
        return None
    if len(set(joints)) != len(joints):
        twice = next(name for name in joints if joints.count(name) > 1)
        raise DataError(f"{table.path}: column '{prefix}{twice}' appears twice")
    if time is None:
        raise DataError(f"{table.path}: no column 'time'; {_NO_TIME}", code='no_time')
    for name in header:
        channel, _, joint = name.partition('.')
        if channel in CHANNELS and joint and joint not in joints:
            said = f"{table.path}: no column '{prefix}{joint}', but '{name}' is there"
            raise DataError(said, code='no_column')
    channels, units = {}, _row_of_units(table)
    for channel in CHANNELS:
        columns = [f'{channel}.{joint}' for joint in joints]
        present = [name for name in columns if name in header]
        if present and len(present) < len(columns):
            missing = next(name for name in columns if name not in header)
            raise DataError(f"{table.path}: no column '{missing}', others of {channel} are there")
        if present:
            unit = _unit(table, units, columns, channel)
            channels[channel] = Channel(**{kind: list(columns)}, unit=unit)  # type: ignore[arg-type]
    clock = TimeColumn(
        **{'variable' if table.header is None else 'column': time},
        unit=_unit(table, units, [time], 'time') or 's',
    )
    return Mapping(joints=joints, time=clock, **channels)  # type: ignore[arg-type]


def _row_of_units(table: Table) -> dict[str, str]:
    """Return what the line below the header says of each column."""
    if table.header is None or not table.notes:
        return {}
    return dict(zip(table.header, layout_of(table.path).units))


def _unit(table: Table, row: dict[str, str], columns: Sequence[str], channel: str) -> str | None:
    """Return the unit of columns by the line below the header, None for SI or none."""
    known = OF_CHANNEL.get(channel, TIME)
    written = [row.get(name, '') for name in columns]
    found = {unit_of(cell) for cell in written}
    if all(unit is None or (known.get(unit) == 1.0 and unit not in SIGNAL) for unit in found):
        return None
    unit = found.pop()
    if not found and unit in known:
        return unit
    raise DataError(
        f'{table.path}: the line below the header gives {channel} the units '
        f'{", ".join(dict.fromkeys(written))}: robot-id init writes a mapping, which takes others',
        code='unknown_columns',
    )


def _of_variables(table: Table) -> Mapping | None:
    names = table.variables
    channels = {}
    for channel in CHANNELS:
        found = next((n for n in (channel, _SHORT.get(channel)) if n in names), None)
        if found is not None:
            channels[channel] = Channel(variable=found)
    time = next((name for name in ('time', 't') if name in names), None)
    if 'position' not in channels:
        return None
    if time is None:
        raise DataError(f"{table.path}: no variable 'time'; {_NO_TIME}", code='no_time')
    joints = names.get('joint_names')
    listed = None if joints is None else [str(name).strip() for name in np.ravel(joints)]
    if listed is not None and (not listed or len(set(listed)) != len(listed)):
        raise DataError(f"{table.path}: 'joint_names' must hold one name for each joint")
    return Mapping(joints=listed, time=TimeColumn(variable=time), **channels)  # type: ignore[arg-type]
