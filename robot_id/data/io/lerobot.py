"""
LeRobot data sets: a folder with meta/info.json and parquet files, versions 2 and 3.

`observation.state` holds the positions and `action` the commanded positions of all motors, in the
order of the names in info.json; each episode is a run. Version 2 has a file for each episode,
version 3 puts several into one; `episode_index` tells them apart in both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.io.raw import Raw
from robot_id.data.io.tables import read_table
from robot_id.data.joint_side import constant_values, on_joint_side, per_joint
from robot_id.data.mapping import Channel
from robot_id.data.mapping import Mapping as MappingFile
from robot_id.data.percent_of_range import PERCENT_OF_RANGE
from robot_id.exceptions import DataError, shorten
from robot_id.texts import LONGEST_NAME, is_line

Array = NDArray[np.float64]
INFO = Path('meta', 'info.json')
STATE, ACTION = 'observation.state', 'action'
# LeRobot writes the names of motors with the quantity behind a point: 'shoulder_pan.pos'.
SUFFIX = '.pos'


@dataclass(frozen=True)
class Episodes:
    """
    The samples of a data set.

    :param names: of the motors.
    :param time: (N,) s, from the start of each episode.
    :param state: (N, n) as recorded; action (N, n) likewise.
    :param episode: (N,) number of the episode.
    """

    names: tuple[str, ...]
    time: Array
    state: Array
    action: Array
    episode: NDArray[np.int64]


def is_lerobot(path: Path) -> bool:
    """Whether a folder is a LeRobot data set."""
    return os.path.isfile(path / INFO)


def read_lerobot(path: Path) -> Episodes:
    """Read positions and commands of all episodes."""
    try:
        info = json.loads((path / INFO).read_text(encoding='utf-8'))
        features: dict[str, Any] = dict(info['features'])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f'{path / INFO}: not the description of a LeRobot data set') from error
    files = sorted((path / 'data').rglob('*.parquet'))
    if not files:
        raise DataError(f"{path}: no parquet files under 'data'")
    for name in (STATE, ACTION):
        if name not in features:
            raise DataError(
                f"{path / INFO}: no feature '{name}', it has "
                + shorten(', '.join(map(str, features)))
            )
    tables = [read_table(file).variables for file in files]
    for file, table in zip(files, tables):
        for name in (STATE, ACTION, 'timestamp', 'episode_index'):
            if name not in table:
                raise DataError(f"{file}: no column '{name}'")
    joined = {
        name: np.concatenate([_rows(table[name]) for table in tables])
        for name in (STATE, ACTION, 'timestamp', 'episode_index')
    }
    state, action = joined[STATE], joined[ACTION]
    if state.shape != action.shape:
        raise DataError(
            f"{path}: '{STATE}' has {state.shape[1]} columns, '{ACTION}' has {action.shape[1]}: "
            'equal motors are needed'
        )
    names = _names(features[STATE], state.shape[1], str(path / INFO))
    episode = joined['episode_index'][:, 0].astype(np.int64)
    order = np.lexsort((joined['timestamp'][:, 0], episode))
    return Episodes(
        names, joined['timestamp'][order, 0], state[order], action[order], episode[order]
    )


def lerobot_pieces(path: Path, mapping: MappingFile | None) -> list[Raw]:
    """
    Return the episodes as raw samples on the joint side, in SI units.

    :param mapping: units, factors and names of the joints; `topics: {}` stands for the columns.
        Commands are as the positions unless it says otherwise.
    """
    given = mapping.channels() if mapping is not None else {}
    if 'position' in given:
        given.setdefault('reference_position', given['position'])
    _check_units(path, given)
    found = read_lerobot(path)
    names, n = found.names, found.state.shape[1]
    called = names
    if mapping is not None and mapping.joints is not None:
        joints = mapping.joints
        if isinstance(joints, dict):
            called = tuple(joints.get(name, name) for name in names)
        elif len(joints) == n:
            called = tuple(joints)
        else:
            raise DataError(f'{path}: {n} motors for {len(joints)} joints of the mapping')
    pieces = []
    for number in np.unique(found.episode):
        rows = found.episode == number
        channels = {'position': found.state[rows], 'reference_position': found.action[rows]}
        for name, channel in given.items():
            where = f'{path}: {name}'
            if channel.value is not None:
                samples = int(rows.sum())
                channels[name] = constant_values(channel, name, samples, n, path.name, where)
            elif name in channels:
                if isinstance(channel.scale, str):
                    raise DataError(f"{where}: 'scale' must be a number")
                factor = 1.0 if channel.scale is None else channel.scale
                scale = per_joint(factor, n, f'{where}: scale')
                channels[name] = on_joint_side(channels[name], channel, name, scale, where)
            else:
                raise DataError(f"{where}: not in a LeRobot data set; give a 'value'")
        pieces.append(Raw(f'{path}: episode {number}', found.time[rows], channels, called))
    return pieces


def _check_units(path: Path, given: Mapping[str, Channel]) -> None:
    """Refuse positions without a unit: LeRobot has degrees, shares of a range and radians."""
    for name in ('position', 'reference_position'):
        channel = given.get(name)
        if channel is None or (channel.unit is None and channel.scale is None):
            raise DataError(
                f"{path}: a LeRobot data set does not say its units: give a mapping with 'topics: "
                f"{{}}' and '{name}: {{unit: deg}}', 'rad', or '{PERCENT_OF_RANGE}' with 'range' "
                'for values of -100 to 100 or 0 to 100',
                code='no_unit',
            )


def _rows(values: Array) -> Array:
    return values[:, None] if values.ndim == 1 else values


def _names(feature: Any, n: int, where: str) -> tuple[str, ...]:
    names = feature.get('names') if isinstance(feature, dict) else None
    if isinstance(names, dict):
        names = next(iter(names.values()), None)
    if not isinstance(names, list) or len(names) != n:
        return tuple(f'joint_{k}' for k in range(1, n + 1))
    called = tuple(str(name).removesuffix(SUFFIX).removeprefix('main_') for name in names)
    for name in called:
        if not is_line(name, LONGEST_NAME) or called.count(name) > 1:
            raise DataError(f"{where}: '{shorten(name)}' is no name of a motor, or there twice")
    return called
