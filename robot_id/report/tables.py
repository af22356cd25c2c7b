"""Tables for the terminal: parameters of a result, errors of a validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from robot_id.methods.result import Result
from robot_id.plain_table import number
from robot_id.tasks.validation import Validation


def parameter_table(result: Result) -> Table:
    """Return name, value, unit, standard deviation, percent and flag of every parameter."""
    selected = result.essential is not None
    table = Table(title=f'{result.robot}: {len(result.names)} parameters by {result.method}')
    table.add_column('name')
    table.add_column('value', justify='right')
    table.add_column('unit')
    for header in ('standard deviation', 'percent'):
        table.add_column(header, justify='right')
    table.add_column('essential')
    flags = result.essential if result.essential is not None else [True] * len(result.names)
    units = result.units or [''] * len(result.names)
    for name, value, unit, std, percent, flag in zip(
        result.names, result.values, units, result.std, result.percent_std, flags
    ):
        mark = ('yes' if flag else 'no') if selected else '-'
        table.add_row(
            name, number(value), unit, number(std), number(percent, 3), mark,
            style=None if flag else 'dim',
        )  # fmt: skip
    return table


def error_table(
    joint_names: Sequence[str],
    total: float,
    per_joint: Sequence[float],
    title: str = 'training error',
) -> Table:
    """Return the relative error in all and per joint."""
    table = Table(title=title)
    table.add_column('joint')
    table.add_column('percent', justify='right')
    for name, percent in zip(joint_names, per_joint):
        table.add_row(name, number(percent, 4))
    table.add_section()
    table.add_row('all', number(total, 4))
    return table


def result_lines(result: Result) -> list[str]:
    """Return the figures of a result that are no table: error, condition, equations, time."""
    extras = result.extras
    lines = [
        f'training error {number(result.relative_error_percent, 4)} %, condition number '
        f'{number(result.condition_number, 4)}, {_equations(extras)}'
        f'{result.elapsed_s:.2f} s'
    ]
    if result.iterations > 1:
        lines.append(f'{result.iterations} iterations')
    if result.simulations:
        lines.append(f'{result.simulations} simulations')
    if 'removed' in extras:
        removed = extras['removed']
        lines.append(
            f'{len(result.names) - len(removed)} essential parameters, removed: '
            f'{", ".join(removed) or "none"}'
        )
    if 'reduced' in extras and extras['reduced']['removed']:
        reduced = extras['reduced']
        grown = reduced['relative_error_percent'] - reduced['full_relative_error_percent']
        lines.append(
            'essential: the 95 % interval leaves out zero; least squares with '
            f'{len(reduced["values"])} parameters alone would raise the training error by '
            f'{number(grown, 2)} %'
        )
    lines += [f'data: {note}' for note in extras.get('data_notes', [])]
    lines += [f'processing: {note}' for note in extras.get('processing', [])]
    return lines


def _equations(extras: dict[str, Any]) -> str:
    return f'{extras["equations"]} equations, ' if 'equations' in extras else ''


def servo_lines(result: Result) -> list[str]:
    """Return position errors by horizon and what sets the scale, of a fit without torques."""
    extras = result.extras
    lines = []
    if 'horizons' in extras:
        parts = []
        for row in extras['horizons']:
            span = row['horizon_s']
            name = 'whole run' if span is None else f'{span:g} s'
            parts.append(f'{name} {number(1e3 * row["mean_absolute_error"], 3)}')
        listed = ', '.join(parts)
        lines.append(f'mean absolute position error (1e-3 rad or m) by horizon: {listed}')
    if 'holdout' in extras:
        own = [row['mean_absolute_error'] for row in extras['holdout']]
        mean = number(1e3 * sum(own) / len(own), 3)
        lines.append(f'the same of held-out runs, each simulated as a whole: {mean}')
    for row in extras.get('friction_choice', ()):
        error = number(1e3 * row['holdout_error'], 3)
        lines.append(f'friction {row["friction"]}: {error} on held-out runs')
    if 'scale' in extras:
        lines.append(f'scale: {extras["scale"]}')
    return lines


def holdout_lines(result: Result) -> list[str]:
    """Return the error on data that the fit has not seen."""
    error = result.holdout_error_percent
    return [f'hold-out error {number(error, 4)} %'] if math.isfinite(error) else []


def verdict_lines(result: Result) -> list[str]:
    """Return the verdict, its reasons and what would improve the result."""
    named = [f'verdict: {result.verdict.replace("_", " ")}'] if result.verdict else []
    because = [f'  because {reason}' for reason in result.reasons]
    return named + because + [f'  suggestion: {one["text"]}' for one in result.suggestions]


def judged_unfit(file: str | Path, result: Result) -> list[str]:
    """Return why a result that was read must not be trusted, nothing where it may be."""
    if not result.converged:
        return [f'{file}: {result.method} did not converge, do not trust these values']
    if result.verdict == 'do_not_use':
        return [f'{file}: the verdict is do not use ({"; ".join(result.reasons)})']
    return []


def validation_table(validation: Validation, title: str = 'validation error') -> Table:
    """Return the torque errors of a validation."""
    return error_table(
        validation.joint_names,
        validation.torque_relative_error_percent,
        validation.per_joint,
        title,
    )
