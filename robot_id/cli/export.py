"""Verb `export`: the parameters of a result for other programs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from robot_id import files
from robot_id.cli.console import check_writable, messages, save, warn
from robot_id.estimation.result import Result
from robot_id.exceptions import DataError
from robot_id.report.export import FORMATS, export


@click.command()
@click.argument('result_file', metavar='RESULT.json')
@click.option(
    '--format',
    'kind',
    type=click.Choice(list(FORMATS)),
    default='yaml',
    show_default=True,
    help='; '.join(f'{name}: {entry.help}' for name, entry in FORMATS.items()) + '.',
)
@click.option('--robot', help="Robot file or URDF, when the result's robot is not a shipped one.")
@click.option(
    '--out', metavar='FILE', help='Write to a file (c: a folder) instead of the terminal.'
)
@click.option('--force', is_flag=True, help='Export for a controller what must not be used, too.')
def command(result_file: str, kind: str, robot: str | None, out: str | None, force: bool) -> None:
    """Write the parameters of RESULT.json in the format of another program."""
    if kind != 'c':
        check_writable(out)
    source = Path(result_file)
    result = Result.load(source)
    made = export(kind, result, source, robot, force)
    if not result.converged:
        warn([f'{source}: {result.method} had not converged, do not trust these values'])
    console = messages()
    if made.folder:
        save_folder(made.folder, out)
        text = ''
    elif out:
        written = save_all(made.text, made.others, Path(out))
        text = Path(out).read_text()
        for path in written[1:]:
            console.print(f'beside it: {path}', markup=False, soft_wrap=True)
    else:
        click.echo(made.text, nl=False)
        text = made.text
    if made.check is not None:
        console.print(made.check(text), markup=False, soft_wrap=True)
    for note in made.notes:
        console.print(note, markup=False, soft_wrap=True)


def save_folder(contents: dict[str, str], out: str | None) -> None:
    """Write the files of a format that is a folder."""
    if out is None:
        raise click.UsageError('this format is a folder of files: name it with --out DIR')
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f'{folder}: cannot be made a folder: {error.strerror}') from error
    for name, content in contents.items():
        save(partial(files.write_text, text=content), folder / name)


def save_all(text: str, others: dict[str, str], out: Path) -> list[Path]:
    """Write a file and those beside it, and return their paths."""
    made = {out: text} | {out.with_suffix(ending): other for ending, other in others.items()}
    for path, content in made.items():
        save(partial(files.write_text, text=content), path)
    return list(made)
