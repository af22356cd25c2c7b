"""Verb `drive-gains`: what the recorded torques are worth, from a load of known mass."""

from __future__ import annotations

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import check_writable, output, progress_bar, save, warn
from robot_id.experiment.drive_gains import identify_drive_gains
from robot_id.experiment.measurements import load_for
from robot_id.model import load_robot


@click.command()
@click.option('--robot', required=True, help='A shipped name, a robot file or a URDF.')
@click.option('--unloaded', required=True, metavar='DATA', help='Recording without the load.')
@click.option('--loaded', required=True, metavar='DATA', help='Recording with the load.')
@click.option('--mass', required=True, type=float, metavar='KG', help='Mass of the load, weighed.')
@click.option('--mapping', metavar='FILE', help='Which columns are what: a name or a YAML file.')
@click.option('--json', 'json_file', metavar='FILE', help='Write the gains to a JSON file.')
def command(
    robot: str, unloaded: str, loaded: str, mass: float, mapping: str | None, json_file: str | None
) -> None:
    """Find the factor that each drive's recorded torque is to be multiplied by, with interval."""
    check_writable(json_file)
    model = load_robot(robot)
    without, with_load = (load_for(model, [path], mapping) for path in (unloaded, loaded))
    compile_first('regressor')
    with progress_bar() as progress:
        found = identify_drive_gains(model, without, with_load, mass, progress=progress)
    console = output()
    for line in found.lines():
        console.print(line, markup=False, soft_wrap=True)
    warn(found.warnings)
    if json_file:
        save(found.save, json_file)
