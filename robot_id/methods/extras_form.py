"""
What a result holds for its method alone, `extras`: what readers of a file use is typed.

The types are those of the whole JSON form: texts are single lines, numbers are finite.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from robot_id.robot.files.names import Name
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


def _or(missing: float) -> BeforeValidator:
    return BeforeValidator(lambda value: missing if value is None else value)


# Errors of a simulation that diverged, and limits that there are not, are null in a file.
Error = Annotated[float, _or(math.nan)]
Limit = Annotated[float, _or(math.inf)]
LIMIT = 'limit'


class _Open(Form):
    """Keys that no reader uses are kept as they are."""

    model_config = ConfigDict(extra='allow')

    @model_validator(mode='before')
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        return plain(value)


class ReducedForm(_Open):
    """The model of essential parameters beside the full one."""

    removed: list[Label] = Field(default_factory=list)
    values: dict[Label, Number] = Field(default_factory=dict)
    relative_error_percent: Error = math.nan
    full_relative_error_percent: Error = math.nan


class ResidualForm(_Open):
    """How coloured the residuals are."""

    deviation_factor: list[Number | None] = Field(default_factory=list)


class ExtrasForm(_Open):
    """Values that several methods have."""

    rate_hz: Annotated[float, Field(gt=0.0, le=1e9)] | None = None
    processing: list[Line] = Field(default_factory=list)
    data_notes: list[Line] = Field(default_factory=list)
    equations: Count = 0
    removed: list[Label] = Field(default_factory=list)
    reduced: ReducedForm | None = None
    residual: ResidualForm | None = None


class RunErrorForm(_Open):
    """Position errors of one simulated run, rad or m."""

    run: Count
    name: Line = ''
    mean_absolute_error: Error
    rms_error: Error
    largest_error: Error


class HorizonForm(_Open):
    """Position errors of predictions over a time; null for whole runs."""

    horizon_s: Positive | None
    mean_absolute_error: Error
    predictions: Count


class ChoiceForm(_Open):
    """Friction that was tried, with its error on held-out runs."""

    friction: Label
    holdout_error: Error


class InputsForm(_Open):
    """Usual gain, supply and load of each joint."""

    gain: list[Number]
    supply: list[Number]
    load: list[Number]


class ServoExtrasForm(ExtrasForm):
    """Values of a fit without torques: what its exports are written from."""

    drive: Label
    friction: list[Label]
    scale: Line
    joints: dict[Name, dict[Label, Limit]]
    inputs: InputsForm
    runs: list[RunErrorForm]
    horizons: list[HorizonForm] = Field(default_factory=list)
    holdout: list[RunErrorForm] = Field(default_factory=list)
    friction_choice: list[ChoiceForm] = Field(default_factory=list)
    not_identifiable: list[Line] = Field(default_factory=list)

    @field_validator('drive')
    @classmethod
    def _known(cls, drive: str) -> str:
        from robot_id.dynamics.simulation.servo.drives import DRIVES

        if drive not in DRIVES:
            raise ValueError(f"no drive '{drive}', only {', '.join(DRIVES)}")
        return drive

    @model_validator(mode='after')
    def _complete(self) -> ServoExtrasForm:
        """Refuse joints without one of their numbers, and inputs of other joints."""
        from robot_id.dynamics.simulation.servo.drives import DRIVES
        from robot_id.methods.torque_free.unknowns import places

        names = [place.name for place in places(DRIVES[self.drive], (), 1.0)]
        for joint, numbers in self.joints.items():
            for name in names:
                if name not in numbers:
                    raise ValueError(f"joints.{joint}: no '{name}'")
            for name, value in numbers.items():
                if math.isinf(value) and not name.endswith(LIMIT):
                    raise ValueError(f'joints.{joint}.{name} is not a finite number')
        for name in ('gain', 'supply', 'load'):
            count = len(getattr(self.inputs, name))
            if count != len(self.joints):
                raise ValueError(f'inputs.{name} has {count} values for {len(self.joints)} joints')
        return self
