"""A mapping applied to a bag: names of joints, units and factors, the wanted part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from robot_id.data.cleaning.cutting import cut
from robot_id.data.io.raw import Raw
from robot_id.data.joint_side import (
    PD_NOTE,
    constant_values,
    drive_gains,
    earlier,
    on_joint_side,
    pd_torque,
    per_joint,
)
from robot_id.data.mapping import DRIVE_GAIN
from robot_id.data.mapping import Mapping as MappingFile
from robot_id.exceptions import DataError

# Keys of a channel that say where it stands in a table; a bag has topics.
_OF_TABLES = ('columns', 'variable', 'file', 'transposed', 'multiplied_by')


def check_for_bag(source: str, mapping: MappingFile) -> None:
    """Refuse keys that do not apply to a bag."""
    if mapping.time is not None:
        raise DataError(
            f"{source}: the mapping's key 'time' is for tables, a bag has the stamps of its "
            'messages: leave it out'
        )
    if mapping.temperature is not None:
        raise DataError(f"{source}: the mapping's key 'temperature' is for tables only")
    for name, channel in mapping.channels().items():
        for key in _OF_TABLES:
            if getattr(channel, key) is not None:
                raise DataError(
                    f"{source}: the mapping's key '{name}.{key}' is for tables, in a bag 'topics' "
                    'say where the channels are',
                    code='for_tables_only',
                )
        if isinstance(channel.scale, str) and channel.scale != DRIVE_GAIN:
            raise DataError(
                f"{source}: the mapping's key '{name}.scale' names the variable "
                f"'{channel.scale}', a bag has none: give numbers"
            )


def names_in_bag(
    source: str, mapping: MappingFile, wanted: tuple[str, ...] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """
    Return the recorded names to read and what they are called by the robot, None for all.

    They stand in the order of the mapping's `joints`; in that of the robot when these are aliases
    of some joints only.
    """
    recorded, called = mapping.recorded_joints(), mapping.called_joints()
    if recorded is None or called is None:
        return wanted, wanted
    missing = [name for name in wanted or () if name not in called]
    if not missing:
        return recorded, called
    if isinstance(mapping.joints, list):
        raise DataError(
            f"{source}: the mapping's 'joints' lack '{missing[0]}' of the robot; to rename a "
            f"recorded joint, write 'joints: {{RECORDED_NAME: {missing[0]}}}'",
            code='joints_missing',
        )
    assert wanted is not None
    alias = dict(zip(called, recorded))
    return tuple(alias.get(name, name) for name in wanted), wanted


def apply_to_bag(
    raw: Raw,
    mapping: MappingFile,
    file: str,
    gains: Mapping[str, float] | None,
    notes: list[str],
) -> list[Raw]:
    """
    Return the wanted parts of a bag, on the joint side in SI units.

    :param raw: as recorded, with the robot's names.
    :param file: name of the bag, for `rows` of several.
    :param gains: joint -> torque over control signal, of the robot file.
    """
    channels = dict(raw.channels)
    n = len(raw.joint_names)
    for name, channel in mapping.channels().items():
        where = f'{raw.source}: {name}'
        if channel.value is not None:
            channels[name] = constant_values(channel, name, len(raw.time), n, file, where)
            continue
        if channel.law == 'pd':
            if 'reference_position' not in channels:
                raise DataError(f"{where}: 'from: pd' needs the topic of the reference")
            channels[name] = pd_torque(channel, raw.time, channels, where)
            notes.append(f'{where}: {PD_NOTE}')
            continue
        if name not in channels:
            notes.append(f"{where}: not in the bag, the mapping's key '{name}' has no effect")
            continue
        if channel.scale is None:
            scale = np.ones(1)
        elif isinstance(channel.scale, str):
            scale = drive_gains(raw.joint_names, gains or {}, where)
        else:
            scale = per_joint(channel.scale, n, f'{where}: scale')
        channels[name] = on_joint_side(channels[name], channel, name, scale, where)
        if channel.delay:
            channels[name] = earlier(raw.time, channels[name], channel.delay, where)
    return cut(replace(raw, channels=channels), mapping, file, notes)
