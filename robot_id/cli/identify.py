"""Verb `identify`: from measurements to parameters."""

from __future__ import annotations

import click

from robot_id import options
from robot_id.cli.compiling import compile_first
from robot_id.cli.console import (
    alarm,
    check_writable,
    details,
    end_unusable,
    output,
    print_whole,
    progress_bar,
    save,
    warn,
)
from robot_id.cli.shared_options import data_option, mapping_option, robot_option
from robot_id.report.html import write_report
from robot_id.report.html.provenance import Provenance, provenance
from robot_id.report.plots import plot_prediction
from robot_id.report.tables import (
    error_table,
    holdout_lines,
    parameter_table,
    result_lines,
    validation_table,
    verdict_lines,
)
from robot_id.tasks.friction.preparation import selection_lines
from robot_id.tasks.identify import Identification, Request, identify

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
    check_writable(json_file, report_file)
    compile_first('regressor')
    request = Request(
        robot,
        paths,
        method,
        options.parse(settings),
        mapping,
        others,
        _holdout(holdout),
        friction,
        not no_check,
    )
    with progress_bar() as progress:
        found = identify(request, progress)
    _show(found)
    if json_file:
        save(found.result.save, json_file)
    if plot_directory:
        title = f'{found.robot.name}, {method}'
        for path in plot_prediction(found.prediction, plot_directory, title):
            output().print(f'picture: {path}', markup=False, soft_wrap=True)
    if report_file:
        words = _command_line(click.get_current_context())
        _write_report(found, report_file, provenance(words, (*paths, *others)))
    if found.result.verdict == 'do_not_use':
        end_unusable()


def _show(found: Identification) -> None:
    """Print findings, parameters, errors, verdict and warnings."""
    result, validation = found.result, found.validation
    details(f'option {key} = {value}' for key, value in result.options.items())
    console = output()
    alarm(f'finding: {line}' for line in found.findings)
    print_whole(console, parameter_table(result))
    per_joint = result.relative_error_percent_per_joint.tolist()
    errors = error_table(found.robot.joint_names, result.relative_error_percent, per_joint)
    print_whole(console, errors)
    for line in (*result_lines(result), *selection_lines(result.friction)):
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
    warn(found.warnings[len(found.findings) :])


def _write_report(found: Identification, file: str, source: Provenance) -> None:
    """Write the page to open in a browser."""
    save(
        lambda path: write_report(
            path,
            found.robot,
            found.dataset,
            found.result,
            found.prediction,
            source,
            found.validation,
            found.findings,
        ),
        file,
    )
    output().print(f'report: {file}', markup=False, soft_wrap=True)


def _holdout(text: str) -> float | tuple[str, ...]:
    """Read a fraction, or take the text as the name of a recording."""
    try:
        return float(text)
    except ValueError:
        return (text,)


def _command_line(context: click.Context) -> list[str]:
    """Return the command line that gives this result: what was set, defaults left out."""
    words = ['robot-id', 'identify']
    for option in context.command.params:
        value = context.params.get(option.name or '')
        if value == option.default or not value:
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [option.opts[0], str(one)]
    return words
