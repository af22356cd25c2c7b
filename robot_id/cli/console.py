"""Shared by the commands: where they print, and a progress bar for long work."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from robot_id import budget, files
from robot_id.cli import verbosity
from robot_id.exceptions import DataError
from robot_id.progress import Progress as Callback

PATIENCE_S = 2.0


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
    columns = (TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn())
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


def check_writable(*paths: str | None) -> None:
    """Refuse a file that cannot be written before the work begins, not after it."""
    for path in paths:
        if path is None:
            continue
        file, folder = Path(path), Path(path).absolute().parent
        if os.path.isdir(file):
            raise DataError(f'{path}: cannot write, it is a directory')
        if not os.path.isdir(folder):
            raise DataError(f"{path}: cannot write, there is no directory '{folder}'")
        if not os.access(file if os.path.exists(file) else folder, os.W_OK):
            raise DataError(f'{path}: cannot write, permission denied')


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
        text = f'{path}: the previous file is kept as {path.name}{files.BACKUP}'
        messages().print(text, markup=False, soft_wrap=True)
