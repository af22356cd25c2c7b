"""Values of a mapping file: columns, ranges, names of joints, factors and matrices."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from robot_id.data.border import LARGEST

# An upper bound for joints times columns of one joint.
MOST_COLUMNS = 1000


def _column_list(value: Any) -> Any:
    """Accept `3`, `name`, `2-7` or a list of these."""
    columns: list[Any] = []
    for item in value if isinstance(value, list) else [value]:
        span = re.fullmatch(r'(\d{1,9})\s*-\s*(\d{1,9})', item) if isinstance(item, str) else None
        if span and int(span[2]) - int(span[1]) >= MOST_COLUMNS:
            raise ValueError(f"'{item}' names more than {MOST_COLUMNS} columns")
        columns += range(int(span[1]), int(span[2]) + 1) if span else [item]
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f'more than {MOST_COLUMNS} columns')
    return columns


def _row_ranges(value: Any) -> Any:
    """Accept one pair, a list of pairs, or these per file name."""
    if isinstance(value, dict):
        return {name: _row_ranges(ranges) for name, ranges in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], list):
        return [value]
    return value


def _different(value: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
    """Refuse a joint that is named twice."""
    names = list(value.values()) if isinstance(value, dict) else value
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"joint '{name}' is named twice")
    return value


def _square(value: list[list[float]]) -> list[list[float]]:
    """Refuse a matrix with unequal rows."""
    for number, row in enumerate(value, start=1):
        if len(row) != len(value):
            raise ValueError(f'row {number} has {len(row)} values, there are {len(value)} rows')
    return value


def _inside(value: str) -> str:
    """Refuse a path that leaves the folder of the data."""
    path = os.path.normpath(value)
    if os.path.isabs(path) or path.split(os.sep)[0] == os.pardir or '\0' in path:
        raise ValueError('must be a file within the folder of the data')
    return value


# A path relative to the folder of the data, which it does not leave.
File = Annotated[str, Field(min_length=1), AfterValidator(_inside)]
Columns = Annotated[list[int | str], BeforeValidator(_column_list)]
JointNames = Annotated[list[str] | dict[str, str], AfterValidator(_different)]
RowRange = Annotated[list[int], Field(min_length=2, max_length=2)]
RowRanges = Annotated[list[RowRange] | dict[str, list[RowRange]], BeforeValidator(_row_ranges)]
Seconds = Annotated[
    list[Annotated[float, Field(ge=0, le=LARGEST)]], Field(min_length=2, max_length=2)
]
TimeRanges = Annotated[list[Seconds] | dict[str, list[Seconds]], BeforeValidator(_row_ranges)]
# A factor or offset that is finite, and no power of ten that no unit makes.
Factor = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Matrix = Annotated[list[list[Factor]], AfterValidator(_square)]
