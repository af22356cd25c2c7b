"""Verb `drive-gains`: factors of the recorded torques, from a load of known mass."""

from __future__ import annotations

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import (
    check_writable,
    command_line,
    end_unusable,
    output,
    progress_bar,
    save,
    warn,
)
from robot_id.cli.shared_options import mapping_option, robot_option


@click.command()
@robot_option
@click.option('--unloaded', required=True, metavar='DATA', help='Recording without the load.')
@click.option('--loaded', required=True, metavar='DATA', help='Recording with the load.')
@click.option('--mass', required=True, type=float, metavar='KG', help='Mass of the load, weighed.')
@click.option(
    '--unknown', multiple=True, metavar='DATA', help='Recording with another load, not weighed.'
)
@click.option('--tool', metavar='LINK', help='Link of the URDF that carries the loads.')
@mapping_option
@click.option('--no-check', is_flag=True, help='Skip the check of the recordings before the fit.')
@click.option('--json', 'json_file', metavar='FILE', help='Write the gains to a JSON file.')
@click.option('--report', 'report_file', metavar='FILE.html', help='Write an HTML report.')
@click.option(
    '--write', 'robot_file', metavar='FILE.yaml', help='Write a robot file with these gains.'
)
def command(
    robot: str,
    unloaded: str,
    loaded: str,
    mass: float,
    unknown: tuple[str, ...],
    tool: str | None,
    mapping: str | None,
    no_check: bool,
    json_file: str | None,
    report_file: str | None,
    robot_file: str | None,
) -> None:
    """
    Estimate the factor that corrects each drive's recorded torque, with its interval.

    Exit code: 0, or 3 where a sure finding says that a recording is of another robot; 2 for a
    mistake in the input.
    """
    from robot_id.report.html.load_page import write_gain_report
    from robot_id.report.html.provenance import provenance
    from robot_id.robot import load_robot
    from robot_id.robot.files.drive_gains import write_drive_gains
    from robot_id.tasks.checks.gate import detect, is_fatal
    from robot_id.tasks.drive_gains import identify_drive_gains
    from robot_id.tasks.measurements import load_for
    from robot_id.tasks.payload.attachment import at_link

    check_writable(json_file, report_file, robot_file)
    model = load_robot(robot)
    place = at_link(model, tool) if tool else None
    paths = (unloaded, loaded, *unknown)
    recordings = [load_for(model, [path], mapping) for path in paths]
    compile_first('regressor')
    unusable = False
    if not no_check:
        found_in = [
            (path, finding)
            for path, data in zip(paths, recordings)
            for finding in detect(model, data)[0]
        ]
        warn(f'{path}: {finding.line()}' for path, finding in found_in)
        unusable = any(is_fatal(finding) for _, finding in found_in)
    without, with_load, *others = recordings
    with progress_bar() as progress:
        found = identify_drive_gains(model, without, with_load, mass, others, place, progress)
    console = output()
    for line in found.lines():
        console.print(line, markup=False, soft_wrap=True)
    warn(found.warnings)
    if json_file:
        save(found.save, json_file)
    if report_file:
        source = provenance(command_line(), paths)
        save(lambda path: write_gain_report(path, model, found, source), report_file)
    if robot_file:
        gains = dict(zip(found.joint_names, found.written))
        save(lambda path: write_drive_gains(robot, gains, path), robot_file)
        console.print(f'robot file: {robot_file}', markup=False, soft_wrap=True)
    if unusable:
        end_unusable()
