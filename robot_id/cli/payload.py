"""Verb `payload`: the load on the flange, from recordings with and without it."""

from __future__ import annotations

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import (
    check_writable,
    command_line,
    output,
    progress_bar,
    save,
    warn,
)
from robot_id.cli.shared_options import mapping_option, robot_option
from robot_id.exceptions import OptionError
from robot_id.texts import LOAD_FORM, POSE_FORM, STRATEGIES


@click.command()
@robot_option
@click.option(
    '--loaded',
    required=True,
    multiple=True,
    metavar='DATA',
    help='Recording with the load; repeat it for other loads.',
)
@click.option('--unloaded', metavar='DATA', help='Recording without the load.')
@mapping_option
@click.option('--params', metavar='FILE', help='Arm without load: JSON file that identify wrote.')
@click.option(
    '--tool',
    'tools',
    multiple=True,
    metavar='LINK',
    help='Link of the URDF that carries the load and gives its frame; repeat it for more loads.',
)
@click.option('--pose', metavar=POSE_FORM, help='Or a frame relative to the last link (m, rad).')
@click.option(
    '--known',
    metavar=f'{LOAD_FORM}|FILE.json',
    help='Known part of the load, such as the gripper, in the same frame; it is subtracted.',
)
@click.option(
    '--strategy',
    metavar='|'.join(STRATEGIES),
    help='subtract: same motion twice, torques subtracted; known_arm: --params and --loaded; '
    'joint: all recordings together. Default: chosen by the data.',
)
@click.option('--no-check', is_flag=True, help='Skip the check of the recordings before the fit.')
@click.option('--json', 'json_file', metavar='FILE', help='Write the load to a JSON file.')
@click.option('--report', 'report_file', metavar='FILE.html', help='Write an HTML report.')
def command(
    robot: str,
    loaded: tuple[str, ...],
    unloaded: str | None,
    mapping: str | None,
    params: str | None,
    tools: tuple[str, ...],
    pose: str | None,
    known: str | None,
    strategy: str | None,
    no_check: bool,
    json_file: str | None,
    report_file: str | None,
) -> None:
    """
    Identify mass, centre and inertia of a load, with intervals.

    Recordings with a sure finding that they are of another robot are refused (exit code 2).
    """
    from robot_id.api.verbs import identify_payload
    from robot_id.methods.model_file import load_result_or_model
    from robot_id.report.html.load_page import write_load_report
    from robot_id.report.html.provenance import provenance
    from robot_id.report.tables import judged_unfit
    from robot_id.robot import load_robot
    from robot_id.tasks.measurements import implausible, load_for

    check_writable(json_file, report_file)
    if tools and pose is not None:
        raise OptionError('payload: give --tool or --pose, not both')
    if unloaded is None and params is None:
        raise OptionError('payload: give --unloaded, a recording without load, or --params')
    model = load_robot(robot)
    with_load = [load_for(model, [path], mapping) for path in loaded]
    without = load_for(model, [unloaded], mapping) if unloaded else None
    arm = load_result_or_model(model, params) if params else None
    compile_first('regressor')
    with progress_bar() as progress:
        found = identify_payload(
            model,
            with_load,
            without,
            arm=params,
            tool=tools,
            pose=pose,
            known=known,
            strategy=strategy,
            check=not no_check,
            progress=progress,
        )
    console = output()
    for line in found.lines():
        console.print(line, markup=False, soft_wrap=True)
    recordings = [*with_load, *([without] if without else [])]
    warn(judged_unfit(params, arm) if params and arm else ())
    warn(found.warnings)
    warn(line for data in recordings for line in implausible(model, data))
    if json_file:
        save(found.save, json_file)
    if report_file:
        read = (*loaded, *filter(None, (unloaded, params)))
        source = provenance(command_line(), read)
        save(lambda path: write_load_report(path, model, found, source), report_file)
