"""Verb `payload`: what hangs on the flange, from recordings with and without it."""

from __future__ import annotations

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import check_writable, output, progress_bar, save, warn
from robot_id.estimation.model_file import load_result_or_model
from robot_id.exceptions import OptionError
from robot_id.experiment.measurements import implausible, load_for
from robot_id.experiment.payload import identify_payload
from robot_id.experiment.payload.attachment import POSE, at_link, at_pose
from robot_id.model import load_robot


@click.command()
@click.option('--robot', required=True, help='A shipped name, a robot file or a URDF.')
@click.option('--loaded', required=True, metavar='DATA', help='Recording with the load.')
@click.option('--unloaded', metavar='DATA', help='Recording without the load.')
@click.option('--mapping', metavar='FILE', help='Which columns are what: a name or a YAML file.')
@click.option('--params', metavar='FILE', help='Arm without load: JSON file that identify wrote.')
@click.option('--tool', metavar='LINK', help='Link of the URDF in whose frame the load is told.')
@click.option('--pose', metavar=POSE, help='Or a frame in that of the last link (m, rad).')
@click.option(
    '--way',
    type=click.Choice(['a', 'b', 'c']),
    help='a: same motion twice, torques subtracted; b: --params and --loaded; '
    'c: both recordings together. By default c with --unloaded, else b.',
)
@click.option('--json', 'json_file', metavar='FILE', help='Write the load to a JSON file.')
def command(
    robot: str,
    loaded: str,
    unloaded: str | None,
    mapping: str | None,
    params: str | None,
    tool: str | None,
    pose: str | None,
    way: str | None,
    json_file: str | None,
) -> None:
    """Identify mass, centre and inertia of a load, with intervals."""
    check_writable(json_file)
    if unloaded is None and params is None:
        raise OptionError('payload: give --unloaded, a recording without load, or --params')
    if tool is not None and pose is not None:
        raise OptionError('payload: give --tool or --pose, not both')
    model = load_robot(robot)
    arm = load_result_or_model(model, params) if params else None
    frame = at_link(model, tool) if tool else at_pose(model, pose) if pose else None
    with_load = load_for(model, [loaded], mapping)
    without = load_for(model, [unloaded], mapping) if unloaded else None
    compile_first('regressor')
    with progress_bar() as progress:
        found = identify_payload(model, with_load, without, arm, frame, way, progress)
    console = output()
    for line in found.lines():
        console.print(line, markup=False, soft_wrap=True)
    warn(line for data in (without, with_load) if data for line in implausible(model, data))
    if json_file:
        save(found.save, json_file)
