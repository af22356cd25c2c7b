"""Verb `export`: the parameters of a result for other programs."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_id import files
from robot_id.cli.console import check_writable, messages, save, warn
from robot_id.exceptions import DataError, DescriptionError
from robot_id.export import FORMATS

if TYPE_CHECKING:
    from robot_id.export.parts import Exported


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
@click.option(
    '--force', is_flag=True, help='Export for a controller despite its verdict, or without one.'
)
def command(result_file: str, kind: str, robot: str | None, out: str | None, force: bool) -> None:
    """
    Write the parameters of RESULT.json in the format of another program.

    Formats that a controller starts from refuse the verdict do_not_use, and a result without a
    verdict (exit code 2); the others warn.
    """
    from robot_id.export import export
    from robot_id.methods.result import Result
    from robot_id.report.tables import judged_unfit

    if kind != 'c':
        check_writable(out)
    source = Path(result_file)
    result = Result.load(source)
    check_own_urdf(robot or result.robot, out)
    made = export(kind, result, source, robot, force)
    warn(judged_unfit(source, result))
    console = messages()
    if made.folder:
        save_folder(made.folder, out)
        lines = []
    elif out:
        lines = save_all(made, Path(out))
    else:
        lines = [] if made.check is None else [made.check(made.text)]
        click.echo(made.text, nl=False)
    for note in (*lines, *made.notes):
        console.print(note, markup=False, soft_wrap=True)


def check_own_urdf(robot: str, out: str | None) -> None:
    """Refuse to replace the URDF that a robot file names."""
    from robot_id.robot import load_robot

    if out is None or not os.path.exists(out):
        return
    with contextlib.suppress(DescriptionError):
        check_writable(out, inputs=[load_robot(robot).urdf])


def save_folder(contents: dict[str, str], out: str | None) -> None:
    """Write the files of a format that is a folder."""
    if out is None:
        raise click.UsageError('this format is a folder of files: name it with --out DIR')
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f'{folder}: cannot be used as a folder: {error.strerror}') from error
    for name, content in contents.items():
        save(partial(files.write_text, text=content), folder / name)


def save_all(made: Exported, out: Path) -> list[str]:
    """
    Write a file and those beside it; return the lines to print about them.

    The file is read back before it is put in place: a wrong one is never left there.
    """
    lines: list[str] = []
    beside = {out.with_suffix(ending): text for ending, text in made.others.items()}
    check_writable(out, *beside)

    def write(draft: Path) -> None:
        files.write_text(draft, made.text)
        if made.check is not None:
            lines.append(made.check(draft.read_text(encoding='utf-8')))

    save(write, out)
    for path, text in beside.items():
        if path.is_file() and path.read_bytes() == text.encode():
            lines.append(f'also there, unchanged: {path}')
            continue
        save(partial(files.write_text, text=text), path)
        lines.append(f'also written: {path}')
    return lines
