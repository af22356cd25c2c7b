"""Verb `check`: what is wrong with a recording, before any fit."""

from __future__ import annotations

import os
from pathlib import Path

import click

from robot_id.cli import verbosity
from robot_id.cli.compiling import compile_first
from robot_id.cli.console import (
    alarm,
    check_folder,
    check_writable,
    messages,
    output,
    progress_bar,
    save,
)
from robot_id.cli.shared_options import data_option, mapping_option, robot_option
from robot_id.exceptions import DataError

# Where no finding has a correction that is certain.
BY_HAND = '--fix: nothing is written, what is found is corrected by hand'
# What --fix writes.
CORRECTED = ('data.npz', 'robot.yaml')


WITHOUT_TORQUE = (
    'no torque was recorded: wrap-around, clock, repeated samples, units of time and velocity, '
    'that of positions by the limits, and joints at rest are checked; signs, columns and mount '
    'need torques'
)


@click.command()
@robot_option
@data_option
@mapping_option
@click.option('--json', 'json_file', metavar='FILE', help='Write the findings to a JSON file.')
@click.option(
    '--fix',
    'folder',
    metavar='FOLDER',
    help='Write the corrected recording (and robot file) there, for findings that are certain.',
)
def command(
    robot: str,
    paths: tuple[str, ...],
    mapping: str | None,
    json_file: str | None,
    folder: str | None,
) -> None:
    """
    Check units, signs, clock, columns, mount and motion of a recording.

    Exit code: 0 without findings, 1 with; with --quiet they go to stderr.
    """
    from robot_id.api.verbs import check
    from robot_id.robot import load_robot
    from robot_id.tasks.checks.fixing import save_corrected
    from robot_id.tasks.measurements import load_for

    check_writable(json_file)
    if folder is not None:
        check_folder(folder)
        if os.path.isdir(folder):
            check_writable(*(Path(folder, name) for name in CORRECTED))
    model = load_robot(robot)
    dataset = load_for(model, paths, mapping, needs_torque=False)
    if not dataset.has_torque:
        messages().print(WITHOUT_TORQUE, markup=False, soft_wrap=True)
    compile_first('regressor')
    with progress_bar() as progress:
        findings = check(model, dataset, progress=progress)
    console = output()
    lines = [finding.line() for finding in findings]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    if verbosity.quiet():
        alarm(lines)
    if not findings:
        console.print('no findings')
    if json_file:
        save(findings.save, json_file)
    if folder and findings:
        try:
            written = save_corrected(Path(folder), model, dataset, findings)
        except OSError as error:
            raise DataError(f'{folder}: cannot write ({error.strerror or error})') from error
        if not written:
            messages().print(BY_HAND, markup=False, soft_wrap=True)
        for path in written:
            console.print(f'corrected: {path}', markup=False, soft_wrap=True)
    if findings:
        click.get_current_context().exit(1)
