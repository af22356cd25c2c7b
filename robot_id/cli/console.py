"""Shared by the commands: where they print, and a progress bar for long work."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from robot_id import budget, files
from robot_id.cli import verbosity
from robot_id.exceptions import DataError
from robot_id.progress import Progress as Callback

PATIENCE_S = 2.0
# Parameters of the verbs that name what they write; all others may name what they read.
WRITTEN = (
    'json_file', 'report_file', 'picture', 'plot_directory', 'out', 'robot_file', 'markdown',
    'page', 'folder',
)  # fmt: skip
# Exit code where the answer must not be used; 2 is a mistake in the input, 1 a finding of `check`.
NOT_TO_BE_USED = 3


def output() -> Console:
    """Return the console for results (stdout); it prints nothing with --quiet."""
    return Console(highlight=False, quiet=verbosity.quiet())


def messages() -> Console:
    """Return the console for warnings and progress (stderr)."""
    return Console(stderr=True, highlight=False)


def warn(lines: Iterable[str]) -> None:
    """Print warnings to stderr, one line each."""
    console = messages()
    for line in lines:
        console.print(f'warning: {line}', style='yellow', markup=False, soft_wrap=True)


def alarm(lines: Iterable[str], style: str | None = 'yellow') -> None:
    """Print findings and verdicts that matter to stderr, with --quiet too."""
    console = messages()
    for line in lines:
        console.print(line, style=style, markup=False, soft_wrap=True)


def end_unusable() -> None:
    """End the command with the code of an answer that must not be used."""
    click.get_current_context().exit(NOT_TO_BE_USED)


def details(lines: Iterable[str]) -> None:
    """Print lines to stderr with --verbose only."""
    if verbosity.verbose():
        console = messages()
        for line in lines:
            console.print(line, style='dim', markup=False, soft_wrap=True)


def print_whole(console: Console, table: Table) -> None:
    """Print a table at its full width, even on a narrower terminal, so that no digit is lost."""
    wide = Measurement.get(console, console.options.update(max_width=1000), table).maximum
    console.width = max(console.width, wide)
    console.print(table)


@contextmanager
def progress_bar() -> Iterator[Callback]:
    """
    Yield a progress callback that draws a bar on a terminal once the work takes two seconds.

    --verbose prints one line for each step instead, --quiet prints nothing.
    """
    console = messages()
    columns = (
        TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn(),
        TextColumn('left'), TimeRemainingColumn(),
    )  # fmt: skip
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task('working', total=1.0)
    started, shown, last = time.monotonic(), False, ''
    drawn = console.is_terminal and not verbosity.quiet() and not verbosity.verbose()

    def report(fraction: float, text: str = '') -> None:
        nonlocal shown, last
        if text != last:
            details([f'{time.monotonic() - started:8.2f} s  {text}'])
            last = text
            budget.doing(text)
        if not shown and drawn and time.monotonic() - started > PATIENCE_S:
            bar.start()
            shown = True
        bar.update(task, completed=fraction, description=text or 'working')

    try:
        yield report
    finally:
        if shown:
            bar.stop()


def check_writable(*paths: str | Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
    """
    Refuse a file that cannot be written before the work begins, not after it.

    A file that the same command reads, or writes twice, is refused too, under whatever name.

    :param inputs: files that are read besides those on the command line.
    """
    written = [path for path in paths if path is not None]
    read = [*_named_files(), *(path for path in inputs if path is not None)]
    places = [os.path.realpath(path) for path in written]
    for number, path in enumerate(written):
        file, folder = Path(path), Path(path).absolute().parent
        if os.path.isdir(file):
            raise DataError(f'{path}: cannot write, it is a directory')
        if not os.path.isdir(folder):
            raise DataError(f"{path}: cannot write, there is no directory '{folder}'")
        if not os.access(file if os.path.exists(file) else folder, os.W_OK):
            raise DataError(f'{path}: cannot write, permission denied')
        if len(os.fsencode(file.name)) > files.LONGEST_NAME:
            raise DataError(f'{path}: cannot write, the name has over {files.LONGEST_NAME} bytes')
        for other in read:
            if _is_part_of(file, Path(other)):
                raise DataError(
                    f'{path}: cannot write, this command reads it (as {other}); name another file'
                )
        if places[number] in places[:number]:
            raise DataError(f'{path}: this command would write it twice; name another file')


def command_line() -> list[str]:
    """Return the words of the running command: what was set, defaults left out."""
    context = click.get_current_context()
    words = ['robot-id', context.info_name or '']
    for option in context.command.params:
        value = context.params.get(option.name or '')
        if value == option.default or not value:
            continue
        named = isinstance(option, click.Option)
        for one in value if isinstance(value, tuple) else (value,):
            words += [option.opts[0]] if named else []
            words += [] if one is True else [str(one)]
    return words


def check_folder(path: str | Path) -> None:
    """Refuse a folder that is none, or that cannot be made, before the work begins."""
    folder = Path(path).absolute()
    existing = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    if not os.path.isdir(existing):
        raise DataError(f"{path}: cannot write, '{existing}' is not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DataError(f"{path}: cannot write, permission denied in '{existing}'")


def _named_files() -> Iterator[str]:
    """Yield what the command line names, but for the files to be written."""
    context = click.get_current_context(silent=True)
    for key, value in (context.params if context else {}).items():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, str) and key not in WRITTEN:
                yield one


def _is_part_of(file: Path, other: Path) -> bool:
    """Whether a file exists and is another one, or lies in a folder, by links too."""
    try:
        if not os.path.exists(file):
            return False
        if os.path.isdir(other):
            return Path(os.path.realpath(other)) in Path(os.path.realpath(file)).parents
        return os.path.samefile(file, other)
    except (OSError, ValueError):
        return False


def save(write: Callable[[Path], object], path: str | Path, folder: bool = False) -> None:
    """
    Write a file in one step; the previous file is kept as a backup, with a message.

    :param write: gets the path to write to.
    :param folder: whether it writes a new folder, which never replaces another.
    """
    path = Path(path)
    kept = os.path.isfile(path) and not folder
    try:
        if folder:
            write(path)
            return
        with files.replacing(path, keep_previous=True) as draft:
            write(draft)
    except OSError as error:
        raise DataError(f'{path}: cannot write ({error.strerror or error})') from error
    if kept and not verbosity.quiet():
        text = f'{path}: the previous file is kept as {files.backup_of(path).name}'
        messages().print(text, markup=False, soft_wrap=True)
