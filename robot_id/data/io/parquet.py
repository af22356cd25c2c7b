"""Parquet files: a column of numbers, or of lists of equal length, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_id import budget
from robot_id.extras import missing_extra


def read_parquet(path: Path) -> dict[str, Any]:
    """Return the numeric columns by name, (N,) or (N, c); the others are left out."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from error
    file = parquet.ParquetFile(path)
    length = path.stat().st_size
    kinds = {field.name: field.type for field in file.schema_arrow}
    wanted = [name for name, kind in kinds.items() if _is_numeric(arrow, kind)]
    budget.check_memory(8 * file.metadata.num_rows * max(len(wanted), 1), length, f'{path}:')
    table = file.read(columns=wanted)
    return {name: _values(table.column(name)) for name in wanted}


def _is_numeric(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _is_numeric(arrow, kind.value_type)
    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def _values(column: Any) -> np.ndarray[Any, Any]:
    rows = column.to_pylist()
    missing = float('nan')
    return np.array([missing if row is None else row for row in rows], dtype=float)
