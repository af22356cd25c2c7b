"""The one result type of all estimators, and its stable JSON form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.exceptions import DataError, shorten
from robot_id.json_numbers import finite_or_none
from robot_id.methods.result_form import SCHEMA, Level, covariance_of, parse_form, read_json
from robot_id.progress import IterationText
from robot_id.regression.rows.prediction import Prediction
from robot_id.texts import one_line

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Iteration:
    """
    One step of an iterative method.

    :param parameters: (b,) estimate after the step.
    :param relative_error_percent: 100 ||Y - W chi|| / ||Y|| of the step's own residual.
    :param step: length of the accepted step relative to the full one (1 = full step).
    """

    parameters: Array
    relative_error_percent: float
    step: float = 1.0


def history_text(history: Sequence[Iteration]) -> IterationText:
    """Return the progress of an iteration."""
    last = history[-1].relative_error_percent if history else float('nan')
    return IterationText(len(history), last)


@dataclass(frozen=True, repr=False)
class Result:
    """
    The estimates of a method with their deviations.

    :param robot: name of the robot.
    :param method: name of the method in the registry.
    :param names: the b parameter names.
    :param values: (b,) estimates, SI units on the joint side.
    :param covariance: (b, b) covariance of the estimates, NaN if a method does not give it.
    :param essential: (b,) parameters whose 95 % interval leaves out zero; None where not known.
    :param relative_error_percent: 100 ||Y - W chi|| / ||Y||.
    :param relative_error_percent_per_joint: (n,) the same for each joint.
    :param condition_number: of the observation matrix that was solved.
    :param iterations: number of iterations (1 for a linear method).
    :param simulations: closed-loop simulations that were run.
    :param elapsed_s: wall seconds.
    :param converged: False marks a result that must not be trusted.
    :param history: the iterations, oldest first.
    :param options: every option that produced it, defaults included.
    :param warnings: one line each.
    :param extras: values of this method only (JSON-serialisable).
    :param standard_parameters: value, deviation, interval and share of the data of every standard
        parameter, where the result was made physically consistent.
    :param physical: the test of that, see `regression.consistency.test`.
    :param verdict: usable, caution or do_not_use; None if it was not judged.
    :param reasons: of the verdict, one line each.
    :param holdout_error_percent: relative torque error on data that a fit has not seen.
    :param findings: of the check before the fit: code, joint, certainty, message, fix, intervals.
    :param suggestions: what would improve the result, tried on blocks left out: code, joint, text,
        before_percent, after_percent.
    :param friction: the friction terms of each joint, their constants and how they were chosen;
        empty: those of the robot file.
    :param units: (b,) of the parameters; empty where they are not known.
    :param robot_file: path and SHA-256 of the robot's file, see `robot.files.source`; None where
        the robot was not loaded from a file.
    :param prediction: torques along the data it was fitted to; not saved.
    """

    robot: str
    method: str
    names: tuple[str, ...]
    values: Array
    covariance: Array
    essential: NDArray[np.bool_] | None = None
    relative_error_percent: float = float('nan')
    relative_error_percent_per_joint: Array = field(default_factory=lambda: np.empty(0))
    condition_number: float = float('nan')
    iterations: int = 1
    simulations: int = 0
    elapsed_s: float = 0.0
    converged: bool = True
    history: tuple[Iteration, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    standard_parameters: tuple[dict[str, Any], ...] | None = None
    physical: dict[str, Any] | None = None
    verdict: Level | None = None
    reasons: tuple[str, ...] = ()
    holdout_error_percent: float = float('nan')
    findings: tuple[dict[str, Any], ...] = ()
    suggestions: tuple[dict[str, Any], ...] = ()
    friction: dict[str, Any] = field(default_factory=dict)
    units: tuple[str, ...] = ()
    robot_file: dict[str, Any] | None = None
    prediction: Prediction | None = field(default=None, repr=False, compare=False)

    @property
    def std(self) -> Array:
        """(b,) standard deviations."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def percent_std(self) -> Array:
        """(b,) 100 sigma / |chi|, infinite where the value is zero."""
        with np.errstate(divide='ignore', invalid='ignore'):
            percent = 100.0 * self.std / np.abs(self.values)
        return np.where(self.values == 0.0, np.inf, percent)

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def __repr__(self) -> str:
        return (
            f'Result({self.robot} by {self.method}: {len(self.names)} parameters, training error '
            f'{self.relative_error_percent:.4g} %, {self.verdict or "not judged"})'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form (non-finite numbers become null)."""
        flags = self.essential if self.essential is not None else np.ones(len(self.names), bool)
        parameters = [
            {
                'name': name,
                'value': finite_or_none(value),
                **({'unit': unit} if unit else {}),
                'std': finite_or_none(std),
                'percent_std': finite_or_none(percent),
                'essential': bool(flag),
            }
            for name, value, unit, std, percent, flag in zip(
                self.names,
                self.values,
                self.units or [''] * len(self.names),
                self.std,
                self.percent_std,
                flags,
            )
        ]
        return {
            'schema': SCHEMA,
            'robot': one_line(self.robot),
            **({'robot_file': _plain(self.robot_file)} if self.robot_file else {}),
            'method': self.method,
            'parameters': parameters,
            'relative_error_percent': finite_or_none(self.relative_error_percent),
            'relative_error_percent_per_joint': [
                finite_or_none(v) for v in self.relative_error_percent_per_joint
            ],
            'condition_number': finite_or_none(self.condition_number),
            'iterations': self.iterations,
            'simulations': self.simulations,
            'elapsed_s': finite_or_none(self.elapsed_s),
            'converged': self.converged,
            'verdict': self.verdict,
            'reasons': [one_line(text) for text in self.reasons],
            'holdout_error_percent': finite_or_none(self.holdout_error_percent),
            'findings': _plain(list(self.findings)),
            'suggestions': _plain(list(self.suggestions)),
            'options': _plain(self.options),
            'warnings': [one_line(text) for text in self.warnings],
            'covariance': [[finite_or_none(v) for v in row] for row in self.covariance],
            'history': [
                {
                    'parameters': [finite_or_none(v) for v in step.parameters],
                    'relative_error_percent': finite_or_none(step.relative_error_percent),
                    'step': step.step,
                }
                for step in self.history
            ],
            'extras': _plain(self.extras),
            **self._physical_keys(),
            **({'friction': _plain(self.friction)} if self.friction else {}),
        }

    def _physical_keys(self) -> dict[str, Any]:
        if self.standard_parameters is None:
            return {}
        standard = [_plain(p) for p in self.standard_parameters]
        return {'standard_parameters': standard, 'physical': _plain(self.physical or {})}

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file, in one step: a failure leaves the previous file."""
        files.write_text(path, json.dumps(self.to_dict(), indent=1) + '\n')

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a result that was saved before; refuse anything else in one line."""
        if not isinstance(path, str | Path):
            raise DataError(
                f'the path of a result file is needed, got {shorten(repr(path))}', key='path'
            )
        return cls.from_dict(read_json(Path(path)), source=str(path))

    @classmethod
    def from_dict(cls, data: Any, source: str = 'result') -> Result:
        """Build a result from its JSON form."""
        form = parse_form(data, source)
        standard = form.standard_parameters
        given = form.friction.model_dump(exclude_unset=True)
        return cls(
            robot=form.robot,
            method=form.method,
            names=tuple(p.name for p in form.parameters),
            values=np.array([p.value for p in form.parameters]),
            covariance=covariance_of(form),
            essential=np.array([p.essential for p in form.parameters]),
            relative_error_percent=_value(form.relative_error_percent),
            relative_error_percent_per_joint=_values(form.relative_error_percent_per_joint),
            condition_number=_value(form.condition_number),
            iterations=form.iterations,
            simulations=form.simulations,
            elapsed_s=_value(form.elapsed_s),
            converged=form.converged,
            history=tuple(
                Iteration(_values(step.parameters), _value(step.relative_error_percent), step.step)
                for step in form.history
            ),
            options=form.options,
            warnings=tuple(form.warnings),
            extras=form.extras.model_dump(exclude_unset=True),
            standard_parameters=(
                tuple(p.model_dump(exclude_unset=True) for p in standard) if standard else None
            ),
            physical=form.physical,
            verdict=form.verdict,
            reasons=tuple(form.reasons),
            holdout_error_percent=_value(form.holdout_error_percent),
            findings=tuple(one.model_dump(exclude_unset=True) for one in form.findings),
            suggestions=tuple(one.model_dump(exclude_unset=True) for one in form.suggestions),
            friction=given,
            units=tuple(p.unit for p in form.parameters),
            robot_file=(
                form.robot_file.model_dump(exclude_unset=True) if form.robot_file else None
            ),
        )


def _plain(value: Any) -> Any:
    """Return nested lists and dictionaries for JSON: null for what is not finite, single lines."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return one_line(value)
    return finite_or_none(value) if isinstance(value, float) else value


def _value(value: float | None) -> float:
    return float('nan') if value is None else value


def _values(values: Sequence[float | None]) -> Array:
    return np.array(values, dtype=float)
