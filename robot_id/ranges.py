"""
Bounded numbers of options: the range is given once, in the type of the field.

    cutoff_hz: Frequency | None = None
    passes: Annotated[int, Range(1, 100)] = 2

`check(self)` in `__post_init__` refuses values outside, for every caller; texts of a command line,
parameters of a node and the list of methods read the same range.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from robot_id.exceptions import OptionError, shorten


@dataclass(frozen=True)
class Range:
    """The numbers from low to high, both included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f'{self.low:g} to {self.high:g}'

    def check(self, value: Any, key: str, whole: bool = False) -> None:
        """Refuse a value that is outside or not a number, naming its key."""
        try:
            inside = self.low <= value <= self.high and not isinstance(value, bool)
            inside = bool(inside) and (not whole or value == int(value))
        except (TypeError, ValueError, OverflowError):
            inside = False
        if not inside:
            kind = 'a positive number, above 0,' if self.low > 0 else 'a number'
            kind = f'a whole number, {self.low:g} or more,' if whole else kind
            raise OutOfRange(
                f'{key} must be {kind} from {self}, got {shorten(value)}',
                key=key,
                value=value,
                bound=(self.low, self.high),
            )


class OutOfRange(OptionError):
    """A number outside the range of its option."""


# The ranges of options; wide, but within what can be computed reliably.
Frequency = Annotated[float, Range(1e-3, 1e6)]
Seconds = Annotated[float, Range(1e-6, 1e7)]
Slope = Annotated[float, Range(1e-6, 1e9)]
Tolerance = Annotated[float, Range(1e-15, 1e6)]
Deviation = Annotated[float, Range(1e-15, 1e15)]
NotNegative = Annotated[float, Range(0.0, 1e15)]
Anything = Annotated[float, Range(-1e15, 1e15)]
FilterOrder = Annotated[int, Range(1, 12)]
Count = Annotated[int, Range(1, 1_000_000)]


def range_of(kind: Any) -> Range | None:
    """Return the range in the type of a field, None where it has none."""
    if typing.get_origin(kind) is Annotated:
        return next((each for each in kind.__metadata__ if isinstance(each, Range)), None)
    for part in typing.get_args(kind):
        if (found := range_of(part)) is not None:
            return found
    return None


def check(options: Any) -> None:
    """Refuse a dataclass of options with a number outside its range."""
    hints = _hints(type(options))  # type: ignore[arg-type]
    for field in dataclasses.fields(options):
        _check(getattr(options, field.name), hints[field.name], field.name)


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    """Return the types of the fields: to read them from their text takes longer than the check."""
    return typing.get_type_hints(cls, include_extras=True)


def _check(value: Any, kind: Any, key: str) -> None:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        bounds = range_of(kind)
        if bounds is not None:
            bounds.check(value, key, whole=inner[0] is int)
    elif origin in (typing.Union, types.UnionType):
        if value is None or isinstance(value, str):
            return
        several = isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0
        for part in inner:
            if (typing.get_origin(part) in (tuple, list, Sequence)) is several:
                _check(value, part, key)
    elif origin in (tuple, list, Sequence) and value is not None:
        for item in value:
            _check(item, inner[0], key)
    elif kind is str and not isinstance(value, str):
        raise OutOfRange(f'{key} must be a text, got {shorten(value)}', key=key, value=value)
    elif kind is float and isinstance(value, float) and math.isnan(value):
        raise OutOfRange(f'{key}: nan is not a number', key=key, value=value)
