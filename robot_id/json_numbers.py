"""Numbers for JSON: values that are not finite become null."""

from __future__ import annotations

import math
from typing import Any


def finite_or_none(value: float) -> float | None:
    """Return a plain number, None for NaN and infinity."""
    value = float(value)
    return value if math.isfinite(value) else None


def finite(value: Any) -> Any:
    """Return nested lists and dictionaries with None in place of values that are not finite."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return finite_or_none(value) if isinstance(value, float) else value
