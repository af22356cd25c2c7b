"""The C compiler of this machine."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from functools import lru_cache
from pathlib import Path

# No -ffast-math: it is no faster here, and NaN must stay NaN.
FLAGS = ('-std=gnu99', '-O2', '-march=native', '-fno-math-errno', '-ffp-contract=fast')
LONGEST_S = 60.0


class CompileError(Exception):
    """The code was not compiled; the message says why."""


class TooSlow(CompileError):
    """Compiling took longer than it may."""


@lru_cache
def compiler() -> tuple[str, ...] | None:
    """Return the command of the C compiler ($CC, cc, gcc or clang), None where there is none."""
    for name in (os.environ.get('CC', ''), 'cc', 'gcc', 'clang'):
        words = shlex.split(name)
        found = shutil.which(words[0]) if words else None
        if found:
            return (found, *words[1:])
    return None


def compile_library(source: str, place: Path, longest_s: float = LONGEST_S) -> None:
    """
    Compile C source into a shared library.

    :raises CompileError: when there is no compiler, it fails or takes longer than longest_s.
    """
    command = compiler()
    if command is None:
        raise CompileError('there is no C compiler')
    process = subprocess.Popen(
        [*command, *FLAGS, '-shared', '-fPIC', '-x', 'c', '-', '-o', str(place), '-lm'],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        cwd=place.parent, start_new_session=True, env={**os.environ, 'TMPDIR': str(place.parent)},
    )  # fmt: skip
    try:
        _, errors = process.communicate(source.encode(), timeout=longest_s)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)  # the compiler proper is a child of the driver
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TooSlow(f'compiling takes longer than {longest_s:g} s') from error
        raise
    if process.returncode != 0:
        lines = errors.decode(errors='replace').strip().splitlines()
        raise CompileError(f'{command[0]} failed: {lines[0] if lines else "no message"}')
