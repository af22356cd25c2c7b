"""Runs cells in a separate process and returns their rows, also if that process ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import robot_id
from robot_id.experiment.campaign.cell import Row, empty_row
from robot_id.experiment.campaign.grid import Cell

# One thread of the BLAS: the same digits for any number of workers, and a core for every cell.
SURROUNDINGS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
_own = threading.local()


def run_guarded(cell: Cell, seconds: float, memory: int) -> Row:
    """
    Return the row of a cell within its limits.

    A process started once per thread runs the cells; one that a cell has ended is started again.

    :param seconds: the cell may take.
    :param memory: bytes it may take.
    """
    warden = getattr(_own, 'warden', None)
    if warden is None or not warden.alive:
        warden = _own.warden = Warden()
    return warden.run(cell, seconds, memory)


def run_all_guarded(cells: list[Cell], seconds: float, memory: int) -> list[Row]:
    """Return the rows of several cells, each within its limits."""
    return [run_guarded(cell, seconds, memory) for cell in cells]


class Warden:
    """One process that runs cells (see `runner`)."""

    def __init__(self) -> None:
        root = str(Path(robot_id.__file__).parents[1])
        paths = [root, *filter(None, [os.environ.get('PYTHONPATH')])]
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'robot_id.experiment.campaign.runner'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **SURROUNDINGS, 'PYTHONPATH': os.pathsep.join(paths)},
            text=True, encoding='utf-8', start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        # The limits are for the cell, not for starting Python.
        self._process.stdout.readline()

    @property
    def alive(self) -> bool:
        """Whether it can take another cell."""
        return self._process.poll() is None

    def run(self, cell: Cell, seconds: float, memory: int) -> Row:
        """Return the row of a cell; the end of the process is the row of a failure."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        request: dict[str, Any] = {'cell': cell, 'seconds': seconds, 'memory': memory}
        answer = ''
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(request) + '\n')
            process.stdin.flush()
            answer = process.stdout.readline()
        if answer.endswith('\n'):
            return json.loads(answer)
        return empty_row(cell) | {'failure': _cause(process.wait(), seconds)}

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()


def _cause(code: int, seconds: float) -> str:
    if code == -signal.SIGALRM:
        return f'TimeLimit: no answer within {seconds:g} s'
    if code < 0:
        return f'Died: the process of the cell was ended by {signal.Signals(-code).name}'
    return f'Died: the process of the cell ended with code {code}'
