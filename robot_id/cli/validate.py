"""Verb `validate`: how well identified parameters explain other data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import (
    check_writable,
    end_unusable,
    output,
    print_whole,
    progress_bar,
    save,
    warn,
)
from robot_id.cli.shared_options import data_option, mapping_option
from robot_id.exceptions import OptionError

if TYPE_CHECKING:
    from robot_id.methods.result import Result
    from robot_id.robot import Robot


@click.command()
@click.option(
    '--robot',
    help='A shipped name, a robot file, URDF or xacro; default: the one that the result names.',
)
@click.option(
    '--params',
    required=True,
    metavar='FILE',
    help='JSON file that identify wrote, a URDF, SDF or MJCF of the same robot (its inertias, '
    "damping and friction), or 'urdf': the inertias of the robot's own URDF, without friction.",
)
@data_option
@mapping_option
@click.option(
    '--set',
    'settings',
    multiple=True,
    metavar='KEY=VALUE',
    help='Processing option that differs from identify.',
)
@click.option('--json', 'json_file', metavar='FILE', help='Write the errors to a JSON file.')
@click.option(
    '--plot', 'plot_directory', metavar='DIR', help='Write plots of torques and residuals.'
)
def command(
    robot: str | None,
    params: str,
    paths: tuple[str, ...],
    mapping: str | None,
    settings: tuple[str, ...],
    json_file: str | None,
    plot_directory: str | None,
) -> None:
    """
    Predict the torques of other data with identified parameters, processed as identify did.

    Exit code: 0, or 3 where a result leaves 40 % of the torque or more unexplained; 2 for a
    mistake in the input.
    """
    from robot_id import options
    from robot_id.methods.model_file import is_model
    from robot_id.report.plots import plot_prediction
    from robot_id.report.tables import judged_unfit, validation_table
    from robot_id.tasks.measurements import implausible, load_for
    from robot_id.tasks.torque_free import is_torque_free
    from robot_id.tasks.validation import Conditions, validate
    from robot_id.tasks.verdict.verdict import NONSENSE_PERCENT

    check_writable(json_file)
    model, result, notes = _read(robot, params)
    overrides = options.parse(settings)
    without = is_torque_free(result)
    dataset = load_for(model, paths, mapping, needs_torque=not without)
    conditions = None if without else Conditions.of(result, dataset.rate, overrides)
    compile_first('regressor')
    with progress_bar() as progress:
        validation = validate(model, result, dataset, conditions, progress)
    console = output()
    print_whole(console, validation_table(validation))
    if validation.simulation is not None:
        errors = ', '.join(f'{name} {v:.3g} %' for name, v in validation.simulation.items())
        console.print(f'closed-loop simulation: {errors}', soft_wrap=True)
    for note in validation.notes:
        console.print(note, markup=False, soft_wrap=True)
    error = validation.torque_relative_error_percent
    unusable = not is_model(params) and not error < NONSENSE_PERCENT
    warn(
        (*notes, *judged_unfit(params, result), *implausible(model, dataset), *validation.warnings)
    )
    if unusable:
        what = validation.prediction.quantity
        warn([f'{params}: leaves {error:.3g} % of these {what}s unexplained: do not use'])
    if json_file:
        save(validation.save, json_file)
    if plot_directory:
        title = f'{model.name}, validation'
        for path in plot_prediction(validation.prediction, plot_directory, title):
            console.print(f'picture: {path}', markup=False, soft_wrap=True)
    if unusable:
        end_unusable()


def _read(robot: str | None, params: str) -> tuple[Robot, Result, tuple[str, ...]]:
    """Return robot and result of a file, or a model in its place, and lines about the robot."""
    from robot_id.methods.model_file import is_model, load_result_or_model, robot_of
    from robot_id.methods.result import Result
    from robot_id.robot import load_robot

    if is_model(params):
        if robot is None:
            raise OptionError(f'{params}: give the robot of this model with --robot', key='robot')
        model = load_robot(robot)
        return model, load_result_or_model(model, params), ()
    result = Result.load(params)
    model, notes = robot_of(result, robot, params)
    return model, result, notes
