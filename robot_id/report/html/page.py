"""Puts the sections, the style, the script and the numbers into one file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from robot_id import files
from robot_id.data.dataset import Dataset
from robot_id.data.run_names import run_labels
from robot_id.methods.result import Result
from robot_id.regression.rows.prediction import Prediction
from robot_id.report.html import links, markup, parameters, sections, series, servo
from robot_id.report.html.charts import correlation_of
from robot_id.report.html.markup import number
from robot_id.report.html.parameters import friction_section
from robot_id.report.html.provenance import Provenance
from robot_id.robot import Robot
from robot_id.robot.parameters.units import torque_units
from robot_id.tasks.friction.curves import friction_curves
from robot_id.tasks.validation import Validation

TORQUES = (
    'The inverse model along the measured motion, filtered and decimated as for the fit. All '
    'joints share the time axis.'
)
AT_REST = ' Samples in the rest band are left out.'


def write_report(
    path: str | Path,
    robot: Robot,
    dataset: Dataset,
    result: Result,
    fitted: Prediction,
    source: Provenance,
    validation: Validation | None = None,
    findings: Sequence[str] = (),
    downloads: Mapping[str, str] | None = None,
) -> None:
    """
    Write the report of an identification.

    :param path: of the HTML file.
    :param robot: the Robot.
    :param dataset: the measurements.
    :param result: what was identified from them.
    :param fitted: measured and predicted torques of these measurements.
    :param source: how to repeat it.
    :param validation: the errors on other data, if there are any.
    :param findings: what looks wrong in the measurements, one line each.
    :param downloads: texts of files that the page offers, by name.
    """
    title, lead = title_and_lead(result, fitted)
    downloads = downloads or {}
    torques = fitted.quantity == 'torque'
    parts = [
        sections.torque_section(fitted, 'torques', title, lead),
        servo.servo_section(result),
        parameters.parameter_section(robot, result),
        friction_section(friction_curves(robot, result, dataset)) if torques else '',
        links.link_section(robot, result) if torques else '',
        '' if validation is None else sections.validation_section(validation),
        parameters.residual_section(fitted, result, _units(robot, fitted)),
        parameters.convergence_section(result),
        parameters.correlation_section(result),
        sections.motion_section(robot) if torques else '',
        sections.data_section(robot, dataset, result, fitted),
        sections.robot_section(robot),
        sections.repetition_section(result, source, list(downloads)),
    ]
    predictions = {'torques': fitted}
    if validation is not None:
        predictions['validation'] = validation.prediction
    budget = series.BUDGET // len(predictions)
    sets = {
        key: series.torque_series(
            prediction,
            _units(robot, prediction),
            run_labels([run.recorded for run in prediction.runs]),
            budget,
        )
        for key, prediction in predictions.items()
    }
    if torques:
        sets[sections.KEY] = sections.motion_numbers(robot, result, dataset)
    numbers = {
        'sets': sets,
        'names': _named_deviations(result),
        'correlation': _correlation(result),
        'result': result.to_dict(),
        'files': downloads,
    }
    title = f'{robot.name}, {result.method}'
    head = _head(result, validation, findings, fitted.quantity)
    files.write_text(path, markup.page(title, head, parts, _script(numbers)))


def title_and_lead(result: Result, fitted: Prediction) -> tuple[str, str]:
    """Return the title and the first sentences of the section of measured and predicted."""
    if fitted.quantity == 'position':
        return 'Measured and simulated position', servo.LEAD
    lead = TORQUES if all(run.used.all() for run in fitted.runs) else TORQUES + AT_REST
    if result.simulations:
        lead += (
            f' {result.method} itself compared with the simulated loop, where the error is '
            f'{number(result.relative_error_percent, 3)} %.'
        )
    return 'Measured and predicted torque', lead


def _head(
    result: Result, validation: Validation | None, findings: Sequence[str], quantity: str
) -> str:
    cards = [
        markup.card(
            'training error',
            f'{number(result.relative_error_percent, 3)} %',
            f'{quantity}, of the fit',
        ),
        markup.card('parameters', str(len(result.names)), f'by {result.method}'),
        markup.card('condition number', number(result.condition_number, 3), 'of the regressor'),
    ]
    if math.isfinite(result.holdout_error_percent):
        error = f'{number(result.holdout_error_percent, 3)} %'
        cards.insert(1, markup.card('hold-out error', error, 'on data kept back'))
    if result.verdict:
        kind = {'usable': '', 'caution': 'warn'}.get(result.verdict, 'bad')
        text = result.verdict.replace('_', ' ')
        many = f'{len(result.reasons)} reason{"s" if len(result.reasons) > 1 else ""}, below'
        cards.insert(0, markup.card('verdict', text, many if result.reasons else '', kind))
    if validation is not None:
        error = f'{number(validation.torque_relative_error_percent, 3)} %'
        cards.insert(1, markup.card('validation error', error, 'on other data'))
    if result.iterations > 1:
        state = 'converged' if result.converged else 'NOT converged'
        kind = '' if result.converged else 'bad'
        cards.append(markup.card('iterations', str(result.iterations), state, kind))
    warnings = [
        *findings,
        *result.reasons,
        *(f'suggestion: {one["text"]}' for one in result.suggestions),
        *result.warnings,
        *(validation.warnings if validation else ()),
    ]
    return markup.cards(cards, warnings)


def _units(robot: Robot, prediction: Prediction) -> tuple[str, ...]:
    units = tuple(torque_units(robot))
    if prediction.quantity == 'torque':
        return units
    return tuple('m' if unit == 'N' else 'rad' for unit in units)


def _script(numbers: dict[str, Any]) -> str:
    """Return the script of the page with its numbers."""
    script = (resources.files('robot_id.report.html') / 'report.js').read_text('utf-8')
    # Inside a script element only '</' and '<!--' could end the data early.
    data = json.dumps(numbers, separators=(',', ':'), allow_nan=False).replace('<', '\\u003c')
    return (
        '<noscript><p class="hint">The plots of torques and motion need JavaScript.</p></noscript>'
        f'<script type="application/json" id="numbers">{data}</script>\n'
        f'<script>\n{script}</script>'
    )


def _named_deviations(result: Result) -> list[str]:
    return [
        name
        for name, variance, std in zip(result.names, result.covariance.diagonal(), result.std)
        if variance == variance and std > 0.0
    ]


def _correlation(result: Result) -> list[list[float]]:
    kept = [result.names.index(name) for name in _named_deviations(result)]
    matrix = correlation_of(result.covariance[kept][:, kept])
    return [[round(float(v), 3) for v in row] for row in matrix]
