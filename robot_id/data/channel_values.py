"""The values of one channel as a table holds them, a column for each joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.mapping import Channel
from robot_id.data.tables import Table
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
