"""Measurements as users give them: a Dataset, a file, or several of either."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from robot_id import data as room
from robot_id.data.arrays import join
from robot_id.data.dataset import Dataset
from robot_id.data.mapping import Mapping
from robot_id.exceptions import DataError
from robot_id.robot import Robot

Recording: TypeAlias = Dataset | str | Path
Data: TypeAlias = Recording | Sequence[Recording]


def measurements(
    robot: Robot, given: Data, mapping: str | Path | Mapping | None = None
) -> Dataset:
    """Return one Dataset with the columns in the order of the robot's joints."""
    listed = [given] if isinstance(given, Dataset | str | os.PathLike) else list(given)
    sets = []
    for one in listed:
        if isinstance(one, Dataset):
            sets.append(one.select(robot.joint_names))
        elif isinstance(one, str | os.PathLike):
            sets.append(room.load(os.fspath(one), mapping, robot))
        else:
            raise DataError(
                f'data: a Dataset, a file or a list of them is needed, got {type(one).__name__}; '
                'arrays become one by Dataset.from_arrays(time=..., position=..., torque=...)',
                key='data',
            )
    return sets[0] if len(sets) == 1 else join(sets)
