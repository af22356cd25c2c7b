"""Tables for the terminal: parameters of a result, errors of a validation, an exciting motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from robot_id.excitation.criteria import CRITERIA
from robot_id.excitation.design import Excitation
from robot_id.excitation.deviations import Deviations
from robot_id.methods.result import Result
from robot_id.plain_table import number
from robot_id.robot import Robot
from robot_id.robot.parameters.units import torque_units, unit_of, units_of
from robot_id.tasks.validation import Validation

# Parameters that are named in a line.
_NAMED = 8


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


def criterion_table(found: Excitation) -> Table:
    """Return each criterion of the best random motion and of the optimised one."""
    before, after = found.search.before, found.search.figures
    table = Table(title=f'{found.robot}: {found.trajectory.kind}, {found.trajectory.duration:g} s')
    table.add_column('criterion')
    table.add_column(f'best of {found.search.random_motions} random', justify='right')
    table.add_column('optimised', justify='right')
    for name, criterion in CRITERIA.items():
        table.add_row(criterion.label, number(before[name], 4), number(after[name], 4))
    return table


def expected_table(robot: Robot, found: Excitation) -> Table:
    """Return the standard deviation to expect of each parameter; one may not be excited."""
    forces = list(dict.fromkeys(torque_units(robot)))
    noise = f'{", ".join(f"{s:g}" for s in found.torque_std)} {" or ".join(forces)}'
    units = dict(zip(robot.base.names, units_of(robot)))
    table = Table(title=f'expected standard deviations for a torque noise of {noise}')
    for header in ('name', 'expected', 'standard deviation', 'unit', 'percent'):
        table.add_column(header, justify='left' if header in ('name', 'unit') else 'right')
    known = found.deviations
    for name, value, std, percent in zip(known.names, known.expected, known.std, known.percent):
        spread = number(std, 3) if math.isfinite(std) else 'not excited'
        style = None if percent < 10.0 else 'dim'
        unit = units.get(name) or unit_of(name.removeprefix('load '))
        table.add_row(name, number(value, 4), spread, unit, number(percent, 3), style=style)
    return table


def not_excited(known: Deviations) -> list[str]:
    """Return a line on the parameters that a motion does not excite, with the remedy."""
    names = [name for name, std in zip(known.names, known.std) if not math.isfinite(std)]
    if not names:
        return []
    shown = ', '.join(names[:_NAMED]) + (' ...' if len(names) > _NAMED else '')
    return [
        f'{len(names)} of {len(known.names)} parameters are not excited by this motion ({shown}): '
        'make it longer or its order higher, or widen the limits of the joints that '
        'hardly move'
    ]
