"""Verb `check`: what is wrong with a recording, before any fit."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from robot_id.cli.compiling import compile_first
from robot_id.cli.console import check_writable, output, progress_bar, save
from robot_id.cli.shared_options import data_option, mapping_option, robot_option
from robot_id.experiment.check import check
from robot_id.experiment.check.fixing import save_corrected
from robot_id.experiment.measurements import load_for
from robot_id.model import load_robot


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
    """Check units, signs, clock, columns, mount and motion of a recording; findings: exit 1."""
    check_writable(json_file)
    model = load_robot(robot)
    dataset = load_for(model, paths, mapping)
    compile_first('regressor')
    with progress_bar() as progress:
        findings = check(model, dataset, progress)
    console = output()
    for finding in findings:
        console.print(finding.line(), markup=False, soft_wrap=True)
    if not findings:
        console.print('no findings')
    if json_file:
        save(findings.save, json_file)
    if folder and findings:
        for path in save_corrected(Path(folder), model, dataset, findings):
            console.print(f'corrected: {path}', markup=False, soft_wrap=True)
    if findings:
        sys.exit(1)
