"""Runs the blocks of a page in a folder of their own."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from tools.manual.blocks import DONE, ROOT, Block, blocks_of, needs_of
from tools.manual.output import COMPILING

# What a page may need: its command, and the files that this needs itself.
MAKES = {
    'run.csv': ('robot-id simulate --robot scara --seed 1 --out run.csv', ()),
    'other.csv': (
        'robot-id simulate --robot scara --trajectory random --seconds 8 --seed 2 --out other.csv',
        (),
    ),
    'r.json': ('robot-id identify --robot scara --data run.csv --json r.json', ('run.csv',)),
    'p.json': (
        'robot-id simulate --robot scara --seed 3 --out loaded.csv '
        '--payload 1.5,0.2,0.05,0,0.01,0,0,0.01,0,0.02 && '
        'robot-id payload --robot scara --unloaded run.csv --loaded loaded.csv --json p.json',
        ('run.csv',),
    ),
}


class PageError(Exception):
    """A block of a page did not do what the page says."""


def prepare(folder: Path) -> Path:
    """Make a folder look like the repository with its command, and nothing else."""
    script = folder / '.venv' / 'bin' / 'robot-id'
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m robot_id.cli.main "$@"\n')
    script.chmod(0o755)
    for name in ('config', 'urdf'):
        (folder / name).symlink_to(ROOT / name)
    return folder


def shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell until one fails; what a terminal shows is in `stdout`."""
    paths = [str(ROOT), *filter(None, [os.environ.get('PYTHONPATH')])]
    environment = os.environ | {
        'PATH': f'{folder / ".venv" / "bin"}{os.pathsep}{os.environ["PATH"]}',
        'PYTHONPATH': os.pathsep.join(paths),
    }
    return subprocess.run(
        ['sh', '-e', '-c', text],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@lru_cache(maxsize=1)
def _kept() -> Path:
    folder = tempfile.TemporaryDirectory(prefix='manual-')
    atexit.register(folder.cleanup)
    return prepare(Path(folder.name))


@lru_cache
def made(name: str) -> Path:
    """Return a file that `needs` names, made once a process."""
    command, before = MAKES[name]
    for other in before:
        made(other)
    done = shell(command, _kept())
    if done.returncode:
        raise PageError(done.stdout[-2000:])
    return _kept() / name


def run_page(page: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """
    Run a page block by block; yield each block of output with what was printed.

    The Python blocks of a page share their names, as in a notebook.

    :raises PageError: if a block ends otherwise than the page says.
    """
    for name in needs_of(page):
        shutil.copy(made(name), folder / name)
    printed, names = '', {'__name__': '__main__'}
    for block in blocks_of(page):
        if block.what not in DONE:
            continue
        if block.what == 'file':
            (folder / block.detail).write_text(block.text)
        elif block.what == 'output':
            yield block, printed
        elif block.kind == 'python':
            printed = _python(block, folder, names, page)
        else:
            done = shell(block.text, folder)
            if done.returncode != block.exit_code:
                tail = done.stdout[-2000:]
                raise PageError(f'{page.name}: exit {done.returncode}\n{block.text}\n{tail}')
            printed = COMPILING.sub('', done.stdout)


def _python(block: Block, folder: Path, names: dict[str, Any], page: Path) -> str:
    """Run a block of Python in this process, where robot_id is loaded already."""
    here, output = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(block.text, str(page), 'exec'), names)
    finally:
        os.chdir(here)
    return output.getvalue()
