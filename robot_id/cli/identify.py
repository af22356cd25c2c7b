"""Verb `identify`: from measurements to parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import (
    alarm,
    check_writable,
    command_line,
    details,
    end_unusable,
    output,
    print_whole,
    progress_bar,
    save,
    warn,
)
from robot_id.cli.shared_options import data_option, mapping_option, robot_option

if TYPE_CHECKING:
    from robot_id.api.fit import Fit

STYLES = {'caution': 'yellow', 'do_not_use': 'bold red'}


@click.command()
@robot_option
@click.option('--method', default='idim_wls', show_default=True, help='One of robot-id methods.')
@data_option
@mapping_option
@click.option(
    '--set', 'settings', multiple=True, metavar='KEY=VALUE', help='Option of the method.'
)
@click.option(
    '--friction',
    metavar='TERMS',
    help="Friction terms of all joints, such as viscous,coulomb,load; 'auto' chooses by "
    "cross-validation; default: the robot file's.",
)
@click.option('--json', 'json_file', metavar='FILE', help='Write the result to a JSON file.')
@click.option(
    '--plot', 'plot_directory', metavar='DIR', help='Write plots of torques and residuals.'
)
@click.option('--report', 'report_file', metavar='FILE.html', help='Write an HTML report.')
@click.option(
    '--validate',
    'others',
    multiple=True,
    metavar='DATA',
    help='Also validate on these data, which the fit does not use.',
)
@click.option(
    '--holdout',
    default='0.2',
    show_default=True,
    metavar='FRACTION|DATA',
    help='Fraction at the end of the motion, or other data, kept to judge the fit; 0: none.',
)
@click.option('--no-check', is_flag=True, help='Skip the check of the data before the fit.')
def command(
    robot: str,
    method: str,
    paths: tuple[str, ...],
    mapping: str | None,
    settings: tuple[str, ...],
    friction: str | None,
    json_file: str | None,
    plot_directory: str | None,
    report_file: str | None,
    others: tuple[str, ...],
    holdout: str,
    no_check: bool,
) -> None:
    """
    Identify the base parameters of a robot from measurements.

    Exit code: 0 where the verdict is usable or caution, 3 where it is do_not_use, as with a sure
    finding that the data are of another robot; 2 for a mistake in the input. Findings, and a
    verdict other than usable, go to stderr, with --quiet too.
    """
    from robot_id import options
    from robot_id.api.methods import choose
    from robot_id.api.verbs import identify
    from robot_id.report.plots import plot_prediction

    check_writable(json_file, report_file)
    compile_first('regressor')
    with progress_bar() as progress:
        fit = identify(
            robot,
            paths,
            choose(method, options.parse(settings)),
            friction=friction,
            holdout=_holdout(holdout),
            validate=others or None,
            check=not no_check,
            mapping=mapping,
            progress=progress,
        )
    _show(fit)
    if json_file:
        save(fit.result.save, json_file)
    if plot_directory:
        title = f'{fit.robot.name}, {fit.method}'
        for path in plot_prediction(fit.prediction(), plot_directory, title):
            output().print(f'picture: {path}', markup=False, soft_wrap=True)
    if report_file:
        words = command_line()
        read = (*paths, *others)
        save(lambda path: fit.report(path, command=words, files=read), report_file)
        output().print(f'report: {report_file}', markup=False, soft_wrap=True)
    if fit.result.verdict == 'do_not_use':
        end_unusable()


def _show(fit: Fit) -> None:
    """Print findings, parameters, errors, verdict and warnings."""
    from robot_id.report.tables import (
        error_table,
        holdout_lines,
        parameter_table,
        result_lines,
        servo_lines,
        validation_table,
        verdict_lines,
    )
    from robot_id.tasks.friction.preparation import selection_lines

    result, validation = fit.result, fit.validation
    details(f'option {key} = {value}' for key, value in result.options.items())
    console = output()
    alarm(f'finding: {line}' for line in fit.findings)
    print_whole(console, parameter_table(result))
    per_joint = result.relative_error_percent_per_joint.tolist()
    errors = error_table(fit.robot.joint_names, result.relative_error_percent, per_joint)
    print_whole(console, errors)
    lines = (*result_lines(result), *servo_lines(result), *selection_lines(result.friction))
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    if validation is not None:
        print_whole(console, validation_table(validation))
    for line in holdout_lines(result):
        console.print(line, markup=False, soft_wrap=True)
    if result.verdict in STYLES:
        alarm(verdict_lines(result), STYLES[result.verdict])
    else:
        for line in verdict_lines(result):
            console.print(line, markup=False, soft_wrap=True)
    warn(fit.warnings[len(fit.findings) :])


def _holdout(text: str) -> float | tuple[str, ...]:
    """Read a fraction, or take the text as the name of a recording."""
    try:
        return float(text)
    except ValueError:
        return (text,)
