"""Verb `export`: the parameters of a result for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from robot_id.cli.console import check_writable, save, warn
from robot_id.estimation.parameters import parameters_for
from robot_id.estimation.result import Result
from robot_id.exceptions import DataError, DescriptionError
from robot_id.model import load_robot
from robot_id.report.export import FORMATS


@click.command()
@click.argument('result_file', metavar='RESULT.json')
@click.option(
    '--format',
    'kind',
    type=click.Choice(list(FORMATS)),
    default='yaml',
    show_default=True,
    help='ros-params: a parameter file for ctc_controller.',
)
@click.option('--robot', help="Robot file or URDF, when the result's robot is not a shipped one.")
@click.option('--out', metavar='FILE', help='Write to a file instead of the terminal.')
def command(result_file: str, kind: str, robot: str | None, out: str | None) -> None:
    """Write the parameters of RESULT.json as YAML, as a ROS 2 parameter file or as CSV."""
    check_writable(out)
    source = Path(result_file)
    result = Result.load(source)
    name = robot or result.robot
    if kind == 'ros-params':
        name = _for_the_controller(result, robot, source)
    elif not result.converged:
        warn([f'{source}: {result.method} had not converged, do not trust these values'])
    text = FORMATS[kind](result, name, source)
    if out:
        save(lambda path: path.write_text(text), out)
    else:
        click.echo(text, nl=False)


def _for_the_controller(result: Result, robot: str | None, source: Path) -> str:
    """Return the robot as the node finds it; refuse parameters that no robot should move with."""
    if not result.converged:
        raise DataError(
            f'{source}: {result.method} had not converged, a controller must not start with it'
        )
    try:
        model = load_robot(robot or result.robot)
    except DescriptionError as error:
        if robot is not None:
            raise
        raise DescriptionError(f'{error}; name the robot file with --robot') from error
    parameters_for(model, result)
    given = robot or result.robot
    return str(Path(given).resolve()) if Path(given).suffix else given
