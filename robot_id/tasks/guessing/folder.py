"""A folder with one table for each joint, read as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robot_id.exceptions import DataError
from robot_id.robot import Robot
from robot_id.tasks.guessing.columns import Column, columns_of, tables_in
from robot_id.tasks.guessing.joints import match


@dataclass(frozen=True)
class JointFiles:
    """
    Tables that differ by the joint in their names.

    :param pattern: name of the files with `{joint}` in the place of the joint.
    :param labels: the joints as the files call them.
    :param columns: of all files, the label before each name; the time once.
    """

    pattern: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]


def joint_files(folder: Path, robot: Robot) -> JointFiles:
    """Return the tables of a folder as one; refuse a folder that holds no such tables."""
    tables = tables_in(folder)
    if len(tables) < 2:
        raise DataError(f'{folder}: a folder without a table for each joint; name one file')
    start, end = _common([path.name for path in tables])
    labels = [path.name[len(start) : len(path.name) - len(end)] for path in tables]
    matched = match(robot, labels)
    if matched is None or len(labels) > robot.n or not all(labels):
        raise DataError(
            f'{folder}: its {len(tables)} tables are not one for each joint; name one file'
        )
    found: list[Column] = []
    first: Sequence[str] = ()
    shortest = min(len(columns_of(path)[0].values) for path in tables)
    for label, path in zip(labels, tables):
        columns = columns_of(path)
        first = first or [column.name for column in columns]
        if [column.name for column in columns] != first:
            raise DataError(f'{path}: its columns are not those of {tables[0].name}')
        found += [
            replace(column, name=f'{label} {column.name}', values=column.values[:shortest])
            for column in columns
        ]
    return JointFiles(f'{start}{{joint}}{end}', tuple(labels), tuple(found))


def _common(names: list[str]) -> tuple[str, str]:
    """Return what all names begin and end with."""
    shortest = min(len(name) for name in names)
    start = next(
        (k for k in range(shortest) if len({name[k] for name in names}) > 1), shortest
    )  # fmt: skip
    while start and names[0][start - 1].isdigit():
        start -= 1
    room = shortest - start
    end = next((k for k in range(room) if len({name[-1 - k] for name in names}) > 1), room)
    return names[0][:start], names[0][len(names[0]) - end :] if end else ''
