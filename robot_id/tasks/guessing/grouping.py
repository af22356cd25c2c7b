"""Columns that belong together: one quantity of several joints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.guessing.columns import Column
from robot_id.tasks.guessing.evidence import roughness
from robot_id.tasks.guessing.naming import Name

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """
    Columns of one quantity.

    :param labels: what tells the columns apart: names of joints, numbers, or words.
    :param name: what their names have in common.
    """

    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    name: Name

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def values(self) -> Array:
        """(N, m) values."""
        return np.column_stack([column.values for column in self.columns])

    def pick(self, order: Sequence[int]) -> Group:
        """Return the group with these columns."""
        return replace(
            self,
            columns=tuple(self.columns[k] for k in order),
            labels=tuple(self.labels[k] for k in order),
        )


def named_groups(columns: Sequence[Column], names: Sequence[Name]) -> list[Group]:
    """Return the groups of columns by their names, in the order of their first columns."""
    by_pattern: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        by_pattern.setdefault(re.sub(r'\d+', '#', name.template), []).append(k)
    groups, single = [], []
    for members in by_pattern.values():
        if len(members) > 1:
            labels = _labels([names[k] for k in members])
            groups.append(_group(columns, names, members, labels))
        else:
            single += members
    by_meaning: dict[tuple[str, ...], list[int]] = {}
    for k in single:
        name = names[k]
        by_meaning.setdefault((name.quantity, name.role, name.side, name.unit), []).append(k)
    for (quantity, *_), members in by_meaning.items():
        if quantity in ('', 'time', 'index', 'other'):
            groups += [_group(columns, names, [k], [names[k].joint]) for k in members]
        else:
            own = [names[k].joint or '_'.join(names[k].rest) for k in members]
            groups.append(_group(columns, names, members, own))
    return sorted(groups, key=lambda group: columns.index(group.columns[0]))


def _group(
    columns: Sequence[Column], names: Sequence[Name], members: list[int], labels: Sequence[str]
) -> Group:
    return Group(tuple(columns[k] for k in members), tuple(labels), names[members[0]])


def _labels(names: Sequence[Name]) -> list[str]:
    """Return the joint of each name: the one of the robot, or the number that differs."""
    numbers = [re.findall(r'\d+', name.template) for name in names]
    if any(not name.joint.isdigit() and name.joint for name in names):
        return [name.joint for name in names]
    for place in zip(*numbers):
        if len(set(place)) == len(names):
            return list(place)
    return [name.joint for name in names]


def unnamed_groups(columns: Sequence[Column], counts: Sequence[int]) -> list[Group]:
    """
    Return groups of columns without useful names: one block a quantity, or one a joint.

    :param counts: numbers of joints that are possible, the likeliest first.
    :return: the layout whose groups are most alike within; empty where none fits.
    """
    K = len(columns)
    rough = np.log10([max(roughness(column.values), 1e-9) for column in columns])
    best: tuple[float, list[list[int]]] | None = None
    for n in counts:
        if n < 1 or K % n or K // n < 2:
            continue
        blocks = [list(range(i * n, (i + 1) * n)) for i in range(K // n)]
        interleaved = [list(range(i, K, K // n)) for i in range(K // n)]
        for layout in (blocks, interleaved):
            spread = float(np.mean([np.var(rough[members]) for members in layout]))
            if best is None or spread < 0.7 * best[0]:
                best = (spread, layout)
        if n > 1:
            break
    if best is None:
        return []
    return [
        Group(tuple(columns[k] for k in members), tuple(str(i + 1) for i in range(len(members))),
              Name('', template='?')) for members in best[1]
    ]  # fmt: skip
