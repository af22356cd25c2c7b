"""Verb `export`: the parameters of a result for other programs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_id.cli.console import check_folder, check_writable, messages, save, warn
from robot_id.exceptions import DescriptionError
from robot_id.export import FORMATS

if TYPE_CHECKING:
    from robot_id.methods.result import Result


@click.command()
@click.argument('result_file', metavar='RESULT.json')
@click.option(
    '--format',
    'kind',
    type=click.Choice(list(FORMATS)),
    help='; '.join(f'{name}: {entry.help}' for name, entry in FORMATS.items())
    + '.  [default: as the ending of --out says; yaml on the terminal]',
)
@click.option('--robot', help='Robot file or URDF; default: the one that the result names.')
@click.option(
    '--out',
    metavar='FILE',
    help='Write to a file (c, controller, python: a folder) instead of the terminal.',
)
@click.option(
    '--force', is_flag=True, help='Export for a controller despite its verdict, or without one.'
)
def command(
    result_file: str, kind: str | None, robot: str | None, out: str | None, force: bool
) -> None:
    """
    Write the parameters of RESULT.json in the format of another program.

    Formats that a controller starts from refuse the verdict do_not_use, and a result without a
    verdict (exit code 2); the others warn.
    """
    from robot_id.export import export
    from robot_id.export.writing import beside, format_of, write_exported
    from robot_id.methods.result import Result
    from robot_id.report.tables import judged_unfit

    if kind is None:
        kind = 'yaml' if out is None else format_of(Path(out))
    if not FORMATS[kind].folder:
        check_writable(out)
    elif out is None:
        raise click.UsageError('this format is a folder of files: name it with --out DIR')
    else:
        check_folder(out)
    source = Path(result_file)
    result = Result.load(source)
    check_own_urdf(result, robot, out)
    made = export(kind, result, source, robot, force)
    warn(judged_unfit(source, result))
    console = messages()
    if out:
        if not made.folder:
            check_writable(out, *beside(made, Path(out)))
        lines = write_exported(made, Path(out), save)
    else:
        lines = [*([] if made.check is None else [made.check(made.text)]), *made.notes]
        click.echo(made.text, nl=False)
    for note in lines:
        console.print(note, markup=False, soft_wrap=True)


def check_own_urdf(result: Result, robot: str | None, out: str | None) -> None:
    """Refuse to replace the URDF that a robot file names."""
    from robot_id.methods.model_file import robot_of

    if out is None or not os.path.exists(out):
        return
    with contextlib.suppress(DescriptionError):
        check_writable(out, inputs=[robot_of(result, robot)[0].urdf])
