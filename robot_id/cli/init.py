"""Verb `init`: robot file and mapping for a recording of unknown columns."""

from __future__ import annotations

from pathlib import Path

import click

from robot_id.cli.console import alarm, check_folder, output
from robot_id.exceptions import DataError


@click.command()
@click.argument('robot')
@click.argument('recording')
@click.option(
    '--out', 'folder', default='.', show_default=True, metavar='FOLDER', help='Write there.'
)
@click.option('--force', is_flag=True, help='Replace files that are there.')
def command(robot: str, recording: str, folder: str, force: bool) -> None:
    """
    Guess the columns of a RECORDING of a ROBOT (URDF or robot file), and write both files.

    Each line of the mapping says why; what is not sure is marked NOT SURE there and on stderr.
    RECORDING is a table, or a folder with a table for each joint. Exit code: 0 where all is
    sure, 1 where something is not.
    """
    from robot_id.api.verbs import guess
    from robot_id.tasks.guessing.writing import write

    check_folder(folder)
    found = guess(robot, recording)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        robot_file, mapping_file = write(found, place, force)
    except OSError as error:
        raise DataError(f'{folder}: cannot write ({error.strerror or error})') from error
    console = output()
    for channel in dict.fromkeys(each.channel for each in found.assignments if each.channel):
        own = found.of(channel)
        shown = ', '.join(each.column.label for each in own)
        unit = f' [{own[0].unit}]' if own[0].unit else ''
        console.print(f'{channel}{unit}: {shown}', markup=False, soft_wrap=True)
    alarm(f'not sure: {key}: {why}' for key, why in found.not_sure.items())
    words = f'--robot {robot_file} --data {recording} --mapping {mapping_file}'
    console.print(f'written: {robot_file}, {mapping_file}', markup=False, soft_wrap=True)
    console.print(f'next: robot-id check {words}', markup=False, soft_wrap=True)
    if found.not_sure:
        click.get_current_context().exit(1)
