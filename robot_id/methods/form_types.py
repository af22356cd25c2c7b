"""The types of the JSON form of a result: texts are single lines, numbers are finite."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from robot_id.texts import LONGEST_LINE, LONGEST_NAME, is_line

_MOST_COUNTED = 1 << 53
# No parameter of a robot is larger, and no standard deviation says less.
_LARGEST, _WIDEST = 1e15, 1e30
# Of tables and lists in one another.
_DEEPEST = 20


def _number(value: Any) -> Any:
    """Refuse whole numbers that no float holds, before they are converted."""
    if isinstance(value, int) and value.bit_length() > 1000:
        raise ValueError('is not a finite number')
    return value


def _line(text: str) -> str:
    if not is_line(text):
        raise ValueError(f'must be one line of at most {LONGEST_LINE} printable characters')
    return text


def _label(text: str) -> str:
    if not is_line(text, LONGEST_NAME):
        raise ValueError(f'must be at most {LONGEST_NAME} printable characters')
    return text


def plain(value: Any, depth: int = 0) -> Any:
    """Refuse a tree that is deep, or holds texts or numbers that a result does not hold."""
    if depth > _DEEPEST:
        raise ValueError('is nested too deeply')
    if isinstance(value, str):
        _line(value)
    elif isinstance(value, (int, float)):
        if not np.isfinite(float(_number(value))):
            raise ValueError('is not a finite number')
    elif isinstance(value, list):
        for item in value:
            plain(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not is_line(key, LONGEST_NAME):
                raise ValueError(f'a key must have at most {LONGEST_NAME} printable characters')
            plain(item, depth + 1)
    return value


_Float = Annotated[float, BeforeValidator(_number)]
Number = Annotated[_Float, Field(allow_inf_nan=False)]
Value = Annotated[_Float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
Deviation = Annotated[_Float, Field(ge=0.0, le=_WIDEST, allow_inf_nan=False)]
Variance = Annotated[_Float, Field(ge=-(_WIDEST**2), le=_WIDEST**2, allow_inf_nan=False)]
Positive = Annotated[_Float, Field(ge=0.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=_MOST_COUNTED)]
Label = Annotated[str, AfterValidator(_label)]
Line = Annotated[str, AfterValidator(_line)]
Tree = Annotated[dict[str, Any], AfterValidator(plain)]


class Form(BaseModel):
    """Types are not converted; keys of later versions are let through."""

    model_config = ConfigDict(extra='ignore', strict=True, frozen=True)
