"""Robot file and mapping of a guess, as YAML with what was assumed and why as comments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_id import files
from robot_id.data import units
from robot_id.data.mapping import DRIVE_GAIN, Mapping
from robot_id.exceptions import DataError
from robot_id.robot.files.description import RobotDescription
from robot_id.tasks.guessing.columns import channel_keys, time_keys
from robot_id.tasks.guessing.guess import Assignment, Guess
from robot_id.texts import comment

NOT_SURE = 'NOT SURE'
# One column may serve all joints.
SHARED = 'time', 'supply', 'enabled', 'gain', 'temperature'


def robot_content(guess: Guess, folder: Path) -> dict[str, Any]:
    """Return the robot file of a guess, for a folder where its URDF is found from."""
    robot = guess.robot
    content: dict[str, Any] = robot.description.model_dump(mode='json', exclude_unset=True)
    if robot.urdf is not None:
        content['urdf'] = os.path.relpath(robot.urdf.resolve(), folder.resolve())
    locked = guess.locked
    if locked and not isinstance(content.get('locked'), str):
        content['locked'] = content.get('locked', {}) | locked
        content['joints'] = [
            each for each in content.get('joints', []) if each['name'] not in locked
        ]
    if guess.drive_gains:
        named = {each['name']: each for each in content.get('joints', [])}
        content['joints'] = [
            named.get(name, {'name': name}) | {'drive_gain': guess.drive_gains.get(name, 1.0)}
            for name in robot.joint_names
            if name not in locked
        ]
    return {key: value for key, value in content.items() if value not in ([], {})}


def mapping_content(guess: Guess) -> dict[str, Any]:
    """Return the mapping of a guess."""
    content: dict[str, Any] = {'joints': _joints(guess)}
    time = guess.of('time')
    if time:
        unit = time[0].unit
        content['time'] = time_keys(time[0].column) | (
            {'unit': unit} if unit not in ('', 's') else {}
        )
    else:
        content['rate_hz'] = guess.rate_hz
    for channel in units.OF_CHANNEL:
        found = guess.of(channel)
        if found:
            content[channel] = _channel(guess, channel, found)
    Mapping.model_validate(content)
    return content


def _joints(guess: Guess) -> list[str] | dict[str, str]:
    order = [each.joint for each in guess.of('position')]
    if guess.files is None:
        return order
    named = {_label(guess, each): each.joint for each in guess.of('position')}
    return order if list(named) == order else named


def _label(guess: Guess, each: Assignment) -> str:
    assert guess.files is not None
    return next(
        label for label in sorted(guess.files.labels, key=len, reverse=True)
        if each.column.name.startswith(f'{label} ')
    )  # fmt: skip


def _channel(guess: Guess, channel: str, found: list[Assignment]) -> dict[str, Any]:
    one = [found[0].column] if guess.files is not None else [each.column for each in found]
    content = channel_keys(one)
    if guess.files is not None:
        content['file'] = guess.files.pattern
    used = {each.unit for each in found}
    scales = np.array([each.scale for each in found])
    if len(used) == 1:
        (unit,) = used
    else:
        known, unit = units.OF_CHANNEL[channel], ''
        scales = scales * np.array([known.get(each.unit, 1.0) for each in found])
    if unit:
        content['unit'] = unit
    if channel == 'torque' and guess.law:
        content['from'] = guess.law
    elif channel == 'torque' and guess.drive_gains:
        content['scale'] = DRIVE_GAIN
    elif np.any(scales != 1.0):
        same = bool(np.all(scales == scales[0]))
        content['scale'] = float(scales[0]) if same else [float(scale) for scale in scales]
    return content


def mapping_text(guess: Guess) -> str:
    """Return the mapping file with comments."""
    content = mapping_content(guess)
    doubts = guess.not_sure
    lines = [f'# How {comment(guess.path.name)} is read; written by robot-id init.']
    lines += [
        '# Lines with NOT SURE are assumptions: look at them first.' if doubts else
        '# Every line follows from names and numbers of the recording.',
        *(f'# {comment(note)}' for note in guess.notes),
    ]  # fmt: skip
    for key, value in content.items():
        reason = '' if key in ('joints', 'rate_hz') else _reason(guess, key)
        if reason:
            lines.append(f'# {key}: {comment(reason)}')
        if doubts.get(key):
            lines.append(f'# {NOT_SURE} ({key}): {comment(doubts[key])}')
        lines.append(_line({key: value}))
    left = [each for each in guess.assignments if not each.channel]
    if left:
        lines.append('# Not used:')
        lines += [f'#   {comment(each.column.label)}: {comment(each.reason)}' for each in left]
    return '\n'.join(lines) + '\n'


def _reason(guess: Guess, channel: str) -> str:
    found = guess.of(channel)
    return found[0].reason if found else ''


def robot_text(guess: Guess, folder: Path) -> str:
    """Return the robot file with comments."""
    content = robot_content(guess, folder)
    RobotDescription.model_validate(content)
    doubts = guess.not_sure
    lines = ['# Written by robot-id init.']
    for key, value in content.items():
        if key == 'locked' and guess.locked:
            shown = ', '.join(guess.locked)
            lines.append(f'# {comment(shown)}: not in the recording, so taken as not moving here.')
            if 'joints' in doubts:
                lines.append(f'# {NOT_SURE} (locked): {comment(doubts["joints"])}')
        if key == 'joints' and 'drive_gain' in doubts:
            lines.append(f'# {NOT_SURE} (drive_gain): {comment(doubts["drive_gain"])}')
        lines.append(_line({key: value}))
    return '\n'.join(lines) + '\n'


def _line(content: dict[str, Any]) -> str:
    plain = not any(isinstance(value, dict | list) for value in content.values())
    text = yaml.safe_dump(
        content, sort_keys=False, width=99, allow_unicode=True,
        default_flow_style=False if plain else None,
    )  # fmt: skip
    return text.rstrip('\n')


def file_names(guess: Guess) -> tuple[str, str]:
    """Return the names of the robot file and of the mapping."""
    stem = guess.path.name.split('.')[0] or 'recording'
    return f'{guess.robot.name}.robot.yaml', f'{stem}.mapping.yaml'


def refuse_contradictions(guess: Guess) -> None:
    """
    Refuse what a person can have made of a guess that no mapping can say.

    :raises DataError: with the column or the joint, and the channel.
    """
    clocks = [each.column.label for each in guess.of('time')]
    if len(clocks) > 1 and guess.files is None:
        raise DataError(f'time: several columns, {", ".join(clocks)}; keep one')
    wanted = tuple(name for name in guess.robot.joint_names if name not in guess.locked)
    used = dict.fromkeys(each.channel for each in guess.assignments if each.channel)
    for channel in ('position', *used):
        known = units.TIME if channel == 'time' else units.OF_CHANNEL[channel]
        columns: dict[str, str] = {}
        for each in guess.of(channel):
            label = each.column.label
            if each.unit and each.unit not in known:
                raise DataError(
                    f"column '{label}': {channel} has no unit '{each.unit}', known: "
                    f'{", ".join(known)}'
                )
            if channel in SHARED:
                continue
            if each.joint not in wanted:
                raise DataError(f"column '{label}': {channel} of no joint; choose its joint")
            if each.joint in columns:
                raise DataError(
                    f"joint '{each.joint}': {channel} in two columns, {columns[each.joint]} and "
                    f'{label}; keep one',
                    joint=each.joint,
                )
            columns[each.joint] = label
        for joint in wanted:
            if channel not in SHARED and joint not in columns:
                raise DataError(
                    f"joint '{joint}': no column is its {channel}; choose one", joint=joint
                )


def write(guess: Guess, folder: Path, force: bool = False) -> tuple[Path, Path]:
    """
    Write robot file and mapping into a folder.

    :param force: replace files that are there.
    :return: both paths.
    """
    refuse_contradictions(guess)
    paths = tuple(folder / name for name in file_names(guess))
    for path in paths:
        if os.path.lexists(path) and not force:
            raise DataError(
                f'{path}: exists already and is not replaced without force', code='exists'
            )
    texts = robot_text(guess, folder), mapping_text(guess)
    for path, text in zip(paths, texts):
        files.write_text(path, text)
    return paths[0], paths[1]
