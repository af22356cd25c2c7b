"""What a result holds for its method alone, `extras`: what readers of a file use is typed."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from robot_id.methods.form_types import Count, Form, Label, Line, Number, Positive, plain
from robot_id.robot.files.names import Name


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
