"""
A child process that answers pickled requests, beside a control loop.

What runs there takes neither the core nor Python's lock of the loop. The child reads requests on
its standard input and answers on its standard output. It ends when its input ends, and Ctrl-C in
the terminal does not reach it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from robot_id.exceptions import ControlError, RobotIdError

NICENESS = 5
# The work is small: one thread is as fast, and leaves the other cores to the loop.
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
_LENGTH = 8


class ChildEnded(ControlError):
    """The child has died; a new one is started."""


class ChildTimeout(ControlError):
    """No answer within the time limit; the child was killed and a new one is started."""


class ChildProcess:
    """
    A child that answers one request at a time; called from a thread that may wait.

    :param module: run with `-m`; its `main` calls `serve`.
    :param setting: given to the child before its first request.
    """

    def __init__(self, module: str, setting: Any) -> None:
        self._module, self._setting = module, setting
        self._closed = False
        self._child = self._start()

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._child.pid

    def ask(self, request: Any, time_limit_s: float | None = None) -> Any:
        """
        Return the answer to a request.

        :raises ChildEnded: when the child has died.
        :raises ChildTimeout: when it did not answer in time.
        :raises RobotIdError: what the child found wrong.
        """
        try:
            _write(self._child.stdin, request)
            answer = pickle.loads(self._read(time_limit_s))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            code = self._child.wait()
            self._renew()
            raise ChildEnded(f'ended ({code})') from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the child."""
        self._closed = True
        self._child.kill()
        self._child.wait()

    def _renew(self) -> None:
        if not self._closed:
            self._child = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            _command(self._module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C goes to the controller, which decides when its children end.
            start_new_session=True,
            # Not in the user's directory: `-m` would import from there.
            cwd='/',
            env={**os.environ, **ONE_THREAD},
        )
        _write(child.stdin, self._setting)
        return child

    def _read(self, time_limit_s: float | None) -> bytes:
        """Return the bytes of the next answer."""
        deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
        size = int.from_bytes(self._exactly(_LENGTH, deadline), 'little')
        return self._exactly(size, deadline)

    def _exactly(self, size: int, deadline: float | None) -> bytes:
        assert self._child.stdout is not None
        number, data = self._child.stdout.fileno(), bytearray()
        answer = select.poll()
        answer.register(number, select.POLLIN)
        while len(data) < size:
            left = None if deadline is None else 1e3 * max(deadline - time.monotonic(), 0.0)
            if not answer.poll(left):
                self._child.kill()
                self._child.wait()
                self._renew()
                raise ChildTimeout('no answer in time')
            part = os.read(number, size - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)


def _write(stream: Any, value: Any) -> None:
    """Write one value, its length first."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, 'little') + data)
    stream.flush()


def _next(stream: BinaryIO) -> Any:
    size = stream.read(_LENGTH)
    if len(size) < _LENGTH:
        raise EOFError
    return pickle.loads(stream.read(int.from_bytes(size, 'little')))


def _command(module: str) -> list[str]:
    """
    Return what starts a child, without the real-time priority of a control loop.

    The child could only give it back after its libraries are loaded, and these start threads of
    their own: on two cores a loop of the same priority would wait for all of that.
    """
    command = [sys.executable, '-m', module]
    reset = shutil.which('chrt')
    if reset is None or os.sched_getscheduler(0) == os.SCHED_OTHER:
        return command
    return [reset, '--other', '0', *command]


def serve(begin: Callable[[Any], Callable[[Any], Any]]) -> None:
    """
    Answer requests until the input ends; the `main` of a child.

    :param begin: called with the setting, returns what answers a request.
    """
    # The control loop has priority: the real-time priority of its process is not inherited.
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(NICENESS)
    out = os.fdopen(os.dup(1), 'wb')
    # Output of libraries goes to the log, not between the answers.
    os.dup2(2, 1)
    with contextlib.suppress(EOFError, BrokenPipeError):
        answer = begin(_next(sys.stdin.buffer))
        while True:
            request = _next(sys.stdin.buffer)
            try:
                found = answer(request)
            except RobotIdError as error:
                found = error
            except Exception as error:
                found = ControlError(f'{type(error).__name__}: {error}')
            _write(out, found)
