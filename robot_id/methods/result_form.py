"""
The JSON form of a result: what each key may hold, checked before a Result is built of it.

A result file is not trusted: it may have been edited, cut or made by another program. Texts are
single lines, numbers are finite, and the covariance is one that estimates can have.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, ValidationError, model_validator

from robot_id import budget, renamed
from robot_id.exceptions import DataError, shorten
from robot_id.methods.extras_form import (
    Count,
    Deviation,
    ExtrasForm,
    Form,
    Label,
    Line,
    Number,
    Positive,
    ServoExtrasForm,
    Tree,
    Value,
    Variance,
)
from robot_id.methods.torque_free import TORQUE_FREE
from robot_id.robot.files.names import Name
from robot_id.texts import problem_of

SCHEMA = 1
Level = Literal['usable', 'caution', 'do_not_use']
LEVELS: tuple[Level, ...] = get_args(Level)
MOST_PARAMETERS = 5000
# Rounding of a covariance that was computed and written with 64 bits: the asymmetry of an entry
# relative to both standard deviations, and the smallest eigenvalue of the correlations, each.
ASYMMETRY, NEGATIVE = 1e-6, 1e-6
# Of a standard deviation against that of the covariance: somebody may have rounded it.
ROUNDED = 0.01

Array = NDArray[np.float64]


class ParameterForm(Form):
    """One parameter; null stands for a standard deviation that is not known."""

    name: Name
    value: Value
    unit: Label = ''
    std: Deviation | None = None
    essential: bool = True


class StepForm(Form):
    """One iteration."""

    parameters: list[Number | None]
    relative_error_percent: Positive | None = None
    step: Number = 1.0


class StandardForm(Form):
    """One standard parameter of a physically consistent result."""

    model_config = ConfigDict(extra='allow')

    name: Name
    value: Value
    std: Deviation | None = None
    interval: list[Number | None] | None = None
    data_share: Number | None = None
    prior_share: Number | None = None


class IntervalForm(Form):
    """Where in a recording a finding was made."""

    run: Count
    first_s: Positive
    last_s: Positive


class FindingForm(Form):
    """One finding of the check."""

    code: Label
    joint: Label | None = None
    certainty: Annotated[float, Field(ge=0.0, le=1.0)]
    message: Line
    fix: Line
    intervals: list[IntervalForm] = Field(default_factory=list)


class SuggestionForm(Form):
    """One way to a better result."""

    code: Label
    joint: Label | None = None
    text: Line
    before_percent: Positive | None = None
    after_percent: Positive | None = None


class ConstantForm(Form):
    """One constant of a friction term."""

    name: Label
    joint: Name
    term: Label
    value: Value
    std: Deviation | None = None


class FrictionForm(Form):
    """The friction terms of each joint, by name, and how they were chosen."""

    terms: dict[Name, list[Label]] = Field(default_factory=dict)
    constants: list[ConstantForm] = Field(default_factory=list)
    selection: Tree | None = None


class RobotFileForm(Form):
    """Where the robot was loaded from."""

    path: Line
    sha256: Annotated[str, Field(pattern='^[0-9a-f]{64}$')]
    locked: dict[Name, Number] = Field(default_factory=dict)
    xacro_args: dict[Label, Line] = Field(default_factory=dict)


class ResultForm(Form):
    """A whole result file."""

    robot: Label = ''
    method: Label = ''
    parameters: Annotated[list[ParameterForm], Field(min_length=1, max_length=MOST_PARAMETERS)]
    covariance: list[list[Variance | None]] | None = None
    relative_error_percent: Positive | None = None
    relative_error_percent_per_joint: list[Positive | None] = Field(default_factory=list)
    condition_number: Positive | None = None
    iterations: Count = 1
    simulations: Count = 0
    elapsed_s: Positive | None = None
    converged: bool = True
    history: list[StepForm] = Field(default_factory=list)
    options: Tree = Field(default_factory=dict)
    warnings: list[Line] = Field(default_factory=list)
    extras: ExtrasForm = ExtrasForm()
    standard_parameters: list[StandardForm] | None = None
    physical: Tree | None = None
    verdict: Level | None = None
    reasons: list[Line] = Field(default_factory=list)
    holdout_error_percent: Positive | None = None
    findings: list[FindingForm] = Field(default_factory=list)
    suggestions: list[SuggestionForm] = Field(default_factory=list)
    friction: FrictionForm = FrictionForm()
    robot_file: RobotFileForm | None = None

    @model_validator(mode='after')
    def _agree(self) -> ResultForm:
        """Refuse lists that do not have one entry for each parameter, and names twice."""
        b = len(self.parameters)
        for what, entries in (
            ('parameters', self.parameters),
            ('standard_parameters', self.standard_parameters or []),
        ):
            names = [entry.name for entry in entries]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"{what}: '{twice}' appears twice")
        for number, step in enumerate(self.history):
            if len(step.parameters) != b:
                raise ValueError(
                    f'history.{number} has {len(step.parameters)} values for {b} parameters'
                )
        if self.covariance:
            if [len(row) for row in self.covariance] != [b] * b:
                raise ValueError(f'covariance must be {b} x {b}, one row for each parameter')
            C = covariance_of(self)
            check_covariance(C)
            for parameter, std in zip(self.parameters, np.sqrt(np.maximum(np.diag(C), 0.0))):
                told = parameter.std
                if told is not None and abs(told - std) > ROUNDED * std:
                    raise ValueError(
                        f"parameters: '{parameter.name}' has the standard deviation {told:g}, but "
                        f'{std:g} in the covariance'
                    )
        return self


class ServoResultForm(ResultForm):
    """The file of a method that needs no torques."""

    extras: ServoExtrasForm


def covariance_of(form: ResultForm) -> Array:
    """(b, b) covariance, of the standard deviations alone where the file has no more."""
    if form.covariance:
        return np.array(form.covariance, dtype=float)
    std = np.array([p.std for p in form.parameters], dtype=float)
    return np.diag(std**2)


def check_covariance(C: Array) -> None:
    """
    Refuse a matrix that no estimates have: it must be symmetric and positive semi-definite.

    Both are judged on C_ij / (sigma_i sigma_j). NaN stands for what is not known.

    :raises ValueError: with the reason.
    """
    variance = np.diag(C)
    known = np.flatnonzero(np.isfinite(variance))
    if np.any(variance[known] < 0.0):
        raise ValueError('covariance: a variance is negative')
    C = C[np.ix_(known, known)]
    if not np.all(np.isfinite(C)):
        raise ValueError('covariance: entries are missing between parameters with a variance')
    sigma = np.sqrt(np.diag(C))
    if np.any(C[sigma == 0.0] != 0.0) or np.any(C[:, sigma == 0.0] != 0.0):
        raise ValueError('covariance: not positive semi-definite, a variance is zero')
    R = C / np.where(sigma > 0.0, sigma, 1.0)[:, None] / np.where(sigma > 0.0, sigma, 1.0)
    if np.any(np.abs(R - R.T) > ASYMMETRY):
        raise ValueError('covariance: not symmetric')
    if len(R) and np.linalg.eigvalsh(0.5 * (R + R.T))[0] < -NEGATIVE * len(R):
        raise ValueError('covariance: not positive semi-definite')


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; NaN and Infinity, which are not JSON, become null."""
    try:
        length = path.stat().st_size
        budget.check_memory(16 * length, 0, f'{path}:')
        return json.loads(path.read_text(encoding='utf-8'), parse_constant=lambda word: None)
    except OSError as error:
        raise DataError(f'{path}: {error.strerror or error}') from error
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else 'nested too deeply'
        raise DataError(f'{path}: not a JSON file ({reason})', code='not_json') from error


def parse_form(data: Any, source: str) -> ResultForm:
    """Return the checked form of a result; refuse anything else in one line that names the key."""
    if not isinstance(data, dict) or 'parameters' not in data:
        raise DataError(f"{source}: not a robot_id result, it has no key 'parameters'")
    if data.get('schema') != SCHEMA or isinstance(data['schema'], bool):
        shown = shorten(repr(data.get('schema')), 80)
        raise DataError(f'{source}: schema {shown}, this version reads {SCHEMA}')
    if (found := renamed.in_result(data)) is not None:
        key, name = found
        raise DataError(
            f"{source}: {key}: '{name.old}' is of an earlier version, {name.hint}: identify again",
            key=key,
            value=name.old,
            bound=name.new,
        )
    try:
        kind = ServoResultForm if data.get('method') in TORQUE_FREE else ResultForm
        return kind.model_validate(data)
    except ValidationError as error:
        key, message = problem_of(error.errors(include_url=False)[0])
        line = f'{source}: {shorten(key)}: {message}' if key else f'{source}: {message}'
        raise DataError(line, key=key or None) from error
