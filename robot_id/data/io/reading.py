"""The one way to read recorded data: `load` turns any supported file into a Dataset."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_id.data.arrays import cleaned, join
from robot_id.data.dataset import Dataset
from robot_id.data.io.assembling import from_tables
from robot_id.data.io.automatic import guess_mapping
from robot_id.data.io.bags.mapping import apply_to_bag, check_for_bag, names_in_bag
from robot_id.data.io.bags.messages import is_bag
from robot_id.data.io.lerobot import is_lerobot, lerobot_pieces
from robot_id.data.mapping import Mapping, MappingLike, Topics, load_mapping
from robot_id.exceptions import DataError

if TYPE_CHECKING:
    from robot_id.robot import Robot


def load(
    path: str | Path | Sequence[str | Path],
    mapping: MappingLike | None = None,
    robot: Robot | Sequence[str] | None = None,
    joint_names: Sequence[str] | None = None,
) -> Dataset:
    """
    Read measurements: rosbag2 directory, .mcap, .db3, .csv, .csv.gz, .mat, .npz, or several.

    :param path: a file or directory, or a list of them whose runs are put together.
    :param mapping: name of a mapping that ships, its file, its keys, or None: bags are read as
        joint_states, tables by the names of their columns or variables.
    :param robot: whose joints are wanted; their names do as well, but then no drive gains are
        known.
    :param joint_names: joints wanted and their order, those of the robot when None. Matched by
        name where the data have names; columns without names are taken to be in this order.
    """
    if not isinstance(path, str | Path | Sequence):
        raise DataError(
            f'path: a file or a list of files is needed, got {type(path).__name__}', key='path'
        )
    if not isinstance(path, str | Path):
        return join([load(each, mapping, robot, joint_names) for each in path])
    wanted: Any = joint_names
    if wanted is None:
        wanted = getattr(robot, 'joint_names', robot)
    names: tuple[str, ...] | None = None if wanted is None else tuple(wanted)
    path = Path(path)
    if not os.path.exists(path):
        raise DataError(f'{path}: no such file or directory', code='no_file')
    chosen = load_mapping(mapping) if mapping is not None else None
    bag = is_bag(path) and (chosen is None or chosen.topics is not None or not _in_files(chosen))
    gains = getattr(robot, 'drive_gains', None)
    try:
        if bag:
            dataset = _load_bag(path, chosen, names, gains)
        else:
            dataset = _load_tables(path, chosen, names, gains)
    except MemoryError as error:
        raise DataError(f'{path}: not enough memory to read it') from error
    dataset = replace(dataset, units=chosen.units() if chosen is not None else {})
    return dataset.select(names) if names is not None else dataset


def _in_files(mapping: Mapping) -> bool:
    """Return whether the mapping is for tables within a directory."""
    return any(channel.file for channel in mapping.channels().values())


def _load_bag(
    path: Path,
    mapping: Mapping | None,
    names: tuple[str, ...] | None,
    drive_gains: dict[str, float] | None,
) -> Dataset:
    # Imported here: reading a csv needs no library for bags.
    from robot_id.data.io.bags.reader import read_bag

    mapping = mapping or Mapping(topics=Topics())
    check_for_bag(str(path), mapping)
    recorded, called = names_in_bag(str(path), mapping, names)
    raw, notes = read_bag(path, mapping.topics or Topics(), recorded, called)
    raw = replace(raw, joint_names=called or raw.joint_names)
    pieces = apply_to_bag(raw, mapping, path.name, drive_gains, notes)
    return cleaned(pieces, mapping.rate_hz, notes, str(path))


def _load_tables(
    path: Path,
    mapping: Mapping | None,
    names: tuple[str, ...] | None,
    drive_gains: dict[str, float] | None,
) -> Dataset:
    table = None
    if is_lerobot(path):
        rate = mapping.rate_hz if mapping is not None else None
        return cleaned(lerobot_pieces(path, mapping), rate, [], str(path))
    if mapping is None:
        if os.path.isdir(path):
            raise DataError(
                f'{path}: not a bag; name its files one by one, or give a mapping that names them',
                code='not_a_bag',
            )
        mapping, table = guess_mapping(path)
    if mapping.position is None:
        raise DataError(f'{path}: the mapping is for bags (topics), this is not a bag')
    pieces, notes = from_tables(path, mapping, names, table, drive_gains)
    return cleaned(pieces, mapping.rate_hz if mapping.time else None, notes, str(path))
