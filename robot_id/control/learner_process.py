"""
ILIC in a separate process: a window takes neither the core nor Python's lock of the control loop.

The child reads pickled requests on its standard input and answers on its standard output. It ends
when its input ends, and Ctrl-C in the terminal does not reach it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import subprocess
import sys
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from robot_id.control.ilic import Ilic, Update
from robot_id.control.window import Window
from robot_id.exceptions import ControlError
from robot_id.model import Robot

Array = NDArray[np.float64]
NICENESS = 5
# A window is small: one thread is as fast, and leaves the other cores to the loop.
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}


class LearnerProcess:
    """
    Identifies windows in a child process, one at a time; called from a thread that may wait.

    :param robot: the robot.
    :param options: further arguments of `Ilic`.
    """

    def __init__(self, robot: Robot, options: dict[str, Any]) -> None:
        self._setting = robot, options
        self._child = self._start()

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._child.pid

    def identify(self, window: Window, parameters: Array, sigma_max: float) -> Update:
        """
        Return the update from a window.

        :param parameters: (b,) what the controller has.
        :raises ControlError: when the child has died; a new one is started.
        """
        try:
            return self._ask((window, parameters, sigma_max))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            code = self._child.wait()
            self._child = self._start()
            raise ControlError(
                f'the learner process ended ({code}), its window is lost; a new one is started'
            ) from error

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        self._child.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            _command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C goes to the controller, which decides when its learner ends.
            start_new_session=True,
            # Not in the user's directory: `-m` would import from there.
            cwd='/',
            env={**os.environ, **ONE_THREAD},
        )
        assert child.stdin is not None
        pickle.dump(self._setting, child.stdin)
        child.stdin.flush()
        return child

    def _ask(self, request: tuple[Window, Array, float]) -> Update:
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin is not None
        assert stdout is not None
        pickle.dump(request, stdin, pickle.HIGHEST_PROTOCOL)
        stdin.flush()
        answer = pickle.load(stdout)
        if isinstance(answer, Exception):
            raise ControlError(f'the learner failed: {answer}')
        return answer


def _command() -> list[str]:
    """
    Return what starts the child, without the real-time priority of a control loop.

    The child could only give it back after its libraries are loaded, and these start threads of
    their own: on two cores a loop of the same priority would wait for all of that.
    """
    command = [sys.executable, '-m', __name__]
    reset = shutil.which('chrt')
    if reset is None or os.sched_getscheduler(0) == os.SCHED_OTHER:
        return command
    return [reset, '--other', '0', *command]


def rest_window(ilic: Ilic) -> Window:
    """Return a window of a robot at rest, from which nothing is learned."""
    rest = np.zeros((ilic.window.length, ilic.robot.n))
    return Window(0, rest, rest, rest, rest)


def _serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    robot, options = pickle.load(stdin)
    ilic = Ilic(robot, **options)
    # Load and compile what the first window needs.
    ilic.identify(rest_window(ilic))
    while True:
        window, ilic.parameters, ilic.sigma_max = pickle.load(stdin)
        try:
            answer: Update | Exception = ilic.identify(window)
        except Exception as error:
            answer = ControlError(f'{type(error).__name__}: {error}')
        pickle.dump(answer, stdout, pickle.HIGHEST_PROTOCOL)
        stdout.flush()


def main() -> None:
    """Answer requests until the input ends."""
    # The control loop has priority: the real-time priority of its process is not inherited.
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(NICENESS)
    out = os.fdopen(os.dup(1), 'wb')
    # Output of libraries goes to the log, not between the answers.
    os.dup2(2, 1)
    with contextlib.suppress(EOFError, BrokenPipeError):
        _serve(sys.stdin.buffer, out)


if __name__ == '__main__':
    main()
