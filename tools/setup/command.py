"""Run one command of the set-up with its output in a log file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from machine import SetupError


def run(title: str, command: list[str], log: Path, environment: dict[str, str], cwd: Path) -> None:
    """
    Print what is being done, do it, and on failure show the end of the log.

    :param title: what is being done, with a hint how long it takes.
    """
    print(f'setup: {title}', flush=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open('w') as output:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        lines = log.read_text(errors='replace').splitlines()
        errors = [line for line in lines if line.startswith(('ERROR', 'CMake Error', 'error'))]
        for line in lines[-15:]:
            print(f'  {line}')
        reason = (errors or lines or ['no output'])[-1].strip()
        raise SetupError(f'{title}: failed ({reason}); all of its output is in {log}')
