"""Tables for the terminal: parameters of a result, errors of a validation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table

from robot_id.estimation.result import Result
from robot_id.experiment.validation import Validation


def parameter_table(result: Result) -> Table:
    """Return name, value, deviation, percent and the essential flag of every parameter."""
    selected = result.essential is not None
    table = Table(title=f'{result.robot}: {len(result.names)} parameters by {result.method}')
    table.add_column('name')
    for header in ('value', 'deviation', 'percent'):
        table.add_column(header, justify='right')
    table.add_column('essential')
    flags = result.essential if result.essential is not None else [True] * len(result.names)
    for name, value, std, percent, flag in zip(
        result.names, result.values, result.std, result.percent_std, flags
    ):
        mark = ('yes' if flag else 'no') if selected else '-'
        table.add_row(
            name, number(value), number(std), number(percent, 3), mark,
            style=None if flag else 'dim',
        )  # fmt: skip
    return table


def error_table(
    joint_names: Sequence[str],
    total: float,
    per_joint: Sequence[float],
    title: str = 'torque error',
) -> Table:
    """Return the relative torque error in all and per joint."""
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
        f'relative error {number(result.relative_error_percent, 4)} %, condition number '
        f'{number(result.condition_number, 4)}, {extras.get("equations", "?")} equations, '
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
    if 'reduced' in extras:
        reduced = extras['reduced']
        lines.append(
            f'essential: the 95 % interval leaves out zero; a model of {len(reduced["values"])} '
            f'parameters has the error {number(reduced["relative_error_percent"], 4)} %, that of '
            f'all {len(result.names)} {number(reduced["full_relative_error_percent"], 4)} %'
        )
    lines += [f'data: {note}' for note in extras.get('data_notes', [])]
    lines += [f'processing: {note}' for note in extras.get('processing', [])]
    return lines


def verdict_lines(result: Result) -> list[str]:
    """Return the error on unseen data, the verdict and its reasons."""
    lines = []
    if math.isfinite(result.holdout_error_percent):
        lines.append(f'hold-out error {number(result.holdout_error_percent, 4)} %')
    if result.verdict:
        lines.append(f'verdict: {result.verdict.replace("_", " ")}')
    return lines + [f'  because {reason}' for reason in result.reasons]


def validation_table(validation: Validation, title: str = 'torque error') -> Table:
    """Return the torque errors of a validation."""
    return error_table(
        validation.joint_names,
        validation.torque_relative_error_percent,
        validation.per_joint,
        title,
    )


def number(value: float, digits: int = 5) -> str:
    """Return a number with significant digits, '-' where there is none."""
    return f'{value:.{digits}g}' if math.isfinite(value) else '-'
