"""A recording that is given twice says nothing about a load."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError


def refuse_same(recordings: Sequence[tuple[str, Dataset]]) -> None:
    """
    Refuse two recordings with the same samples, whatever their files are called.

    :param recordings: the option each was given by, and its samples.
    """
    for (first, one), (second, other) in combinations(recordings, 2):
        if _same(one, other):
            raise DataError(
                f'{first} {one.source} and {second} {other.source} are the same recording: '
                'each needs a recording of its own'
            )


def _same(one: Dataset, other: Dataset) -> bool:
    return len(one.runs) == len(other.runs) and all(
        np.array_equal(a.position, b.position) and np.array_equal(a.torque, b.torque)
        for a, b in zip(one.runs, other.runs)
    )
