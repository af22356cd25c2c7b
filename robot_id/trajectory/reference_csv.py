"""A sampled reference as a csv: time and reference_position.<joint>, velocity, acceleration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_id import files
from robot_id.data.io.csv import LONGEST_LINE, read_csv
from robot_id.exceptions import RobotIdError, TrajectoryError, did_you_mean
from robot_id.trajectory.reference import Reference

_CHANNELS = ('reference_position', 'reference_velocity', 'reference_acceleration')


def write_reference_csv(
    reference: Reference, path: str | Path, joint_names: Sequence[str]
) -> None:
    """Write every sample with every digit."""
    header = ['time', *(f'{channel}.{name}' for channel in _CHANNELS for name in joint_names)]
    table = np.hstack(
        [
            reference.time[:, None],
            reference.position,
            reference.velocity,
            reference.acceleration,
        ]
    )
    with (
        files.replacing(path) as draft,
        draft.open('w', encoding='utf-8', newline='\n') as file,
    ):
        file.write(','.join(header) + '\n')
        for row in table.tolist():
            file.write(','.join(map(repr, row)) + '\n')


def is_reference_csv(path: str | Path) -> bool:
    """Return whether a file is a csv of a reference without measurements."""
    path = Path(path)
    if path.suffix != '.csv' or not os.path.isfile(path):
        return False
    header = _header(path)
    return any(c.startswith(_CHANNELS[0] + '.') for c in header) and not any(
        c.startswith(('position.', 'torque.')) for c in header
    )


def read_reference_csv(
    path: str | Path, joint_names: Sequence[str] | None = None
) -> tuple[Reference, tuple[str, ...]]:
    """Return the reference and its joints, in the order of joint_names where given."""
    path = Path(path)
    header = _header(path)
    prefix = _CHANNELS[0] + '.'
    names = tuple(c.removeprefix(prefix) for c in header if c.startswith(prefix))
    wanted = tuple(joint_names) if joint_names is not None else names
    for name in wanted:
        if name not in names:
            raise TrajectoryError(
                f"{path}: no joint '{name}', {did_you_mean(name, names)}", joint=name
            )
    columns = ['time', *(f'{channel}.{name}' for channel in _CHANNELS for name in wanted)]
    missing = [c for c in columns if c not in header]
    if missing:
        raise TrajectoryError(f"{path}: no column '{missing[0]}'", code='no_column')
    try:
        table = read_csv(path)[1]
    except RobotIdError as error:
        raise TrajectoryError(str(error)) from error
    if table.shape[0] < 2 or table.shape[1] != len(header):
        raise TrajectoryError(f'{path}: fewer than 2 rows of {len(header)} numbers')
    picked = table[:, [header.index(c) for c in columns]]
    q, dq, ddq = np.split(picked[:, 1:], 3, axis=1)
    return Reference(picked[:, 0], q, dq, ddq), wanted


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding='utf-8') as file:
            return file.readline(LONGEST_LINE).strip().split(',')
    except (OSError, UnicodeDecodeError) as error:
        raise TrajectoryError(f'{path}: cannot be read ({error})', code='unreadable') from error
