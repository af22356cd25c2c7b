"""
Answers to requests from a separate process, which may end: at a time limit, or without memory.

Nothing of the package is imported here: a worker of a cluster loads this file alone, and the
process that computes loads the rest.
"""

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

# One thread of the BLAS: the same digits for any number of workers, and a core for every one.
SURROUNDINGS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
Request = dict[str, Any]
# What the process answered, or None and the reason why it ended.
Answer = tuple[Any, str]
_own = threading.local()


def answers(module: str, requests: list[Request]) -> list[Answer]:
    """
    Return the answers of `python -m module` to requests.

    A process started once per thread gives them; one that a request has ended is started again.
    """
    found = []
    for request in requests:
        guarded = getattr(_own, 'guarded', None)
        if guarded is None or guarded.module != module or not guarded.alive:
            guarded = _own.guarded = GuardedProcess(module)
        found.append(guarded.answer(request))
    return found


class GuardedProcess:
    """
    One process that answers requests, a line of JSON each; its first line says that it is ready.

    It keeps the limits of a request (such as its `seconds`) itself, by the alarm and the memory
    limit of the system, so that it also ends where nobody waits for it any more.

    :param module: that is run, by its name.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        root = str(Path(__file__).parents[1])
        paths = [root, *filter(None, [os.environ.get('PYTHONPATH')])]
        self._process = subprocess.Popen(
            [sys.executable, '-m', module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **SURROUNDINGS, 'PYTHONPATH': os.pathsep.join(paths)},
            text=True, encoding='utf-8', start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        # The limits are for the request, not for starting Python.
        self._process.stdout.readline()

    @property
    def alive(self) -> bool:
        """Whether it can take another request."""
        return self._process.poll() is None

    def answer(self, request: Request) -> Answer:
        """Return the answer; where the process ended instead, None and the reason."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        line = ''
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(request) + '\n')
            process.stdin.flush()
            line = process.stdout.readline()
        if line.endswith('\n'):
            return json.loads(line), ''
        return None, _cause(process.wait(), request['seconds'])

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
        return f'Died: the process was ended by {signal.Signals(-code).name}'
    return f'Died: the process ended with code {code}'
