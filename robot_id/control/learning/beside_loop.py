"""
ILIC beside a control loop: windows are identified elsewhere while the loop runs.

Elsewhere is a separate process, so that a window does not disturb the control loop.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control.child_process import ChildEnded, ChildProcess, serve
from robot_id.control.learning.ilic import OVERTAKEN, Ilic, Update
from robot_id.control.learning.window import Window
from robot_id.control.runtime.torque_control import Command
from robot_id.exceptions import ControlError
from robot_id.robot import Robot

Array = NDArray[np.float64]
Question = tuple[Window, Array, float]


class Learning:
    """
    Feeds the samples of a controller to ILIC and hands back what it found.

    :param ilic: collects the windows.
    :param process: where they are identified; None identifies within `feed`, which is repeatable
        but blocks the loop.
    :ivar lost: windows that were lost with the learner process.
    """

    def __init__(self, ilic: Ilic, process: LearnerProcess | None) -> None:
        self.ilic = ilic
        self.process = process
        # It only waits for the process.
        self._waiter = None if process is None else ThreadPoolExecutor(1, 'ilic')
        self._future: Future[Update] | None = None
        self._asked = ilic.parameters
        self.windows = self.accepted = self.refused = self.lost = 0
        self.last_refusal = ''
        self._rest = True
        if process is None:
            # Load and compile what the first window needs, before the loop runs.
            ilic.identify(rest_window(ilic))

    def feed(self, command: Command) -> Update | None:
        """Take in one sample; return an update when one has come, accepted or not."""
        if not command.following:
            if not self._rest:
                self.ilic.clear()
            self._rest = True
        else:
            self._rest = False
            q, dq, ddq = command.point
            if self.ilic.add(q, dq, ddq, command.torque):
                if self._waiter is None:
                    return self._count(self.ilic.identify(self.ilic.take()))
                # A window that is due before the last one is done is dropped.
                if self._future is None:
                    self._submit(self.ilic.take())
        if self._future is not None and self._future.done():
            return self._finish()
        return None

    def set_parameters(self, chi: Array) -> None:
        """Set the parameters of the controller; a window in progress is then too late."""
        self.ilic.parameters = chi

    def close(self) -> None:
        """End the process and the thread that waits for it."""
        if self.process is not None:
            self.process.close()
        if self._waiter is not None:
            self._waiter.shutdown(wait=False, cancel_futures=True)

    def _submit(self, window: Window) -> None:
        assert self._waiter is not None
        assert self.process is not None
        self._asked = self.ilic.parameters
        self._future = self._waiter.submit(
            self.process.identify, window, self._asked, self.ilic.sigma_max
        )

    def _finish(self) -> Update | None:
        assert self._future is not None
        future, self._future = self._future, None
        try:
            update = future.result()
        except ControlError as error:
            self.lost += 1
            self.last_refusal = str(error)
            return None
        if self.ilic.parameters is not self._asked:
            update = replace(update, accepted=False, reason=OVERTAKEN, payload=None)
        elif update.accepted:
            self.ilic.parameters = update.parameters
        return self._count(update)

    def _count(self, update: Update) -> Update:
        self.windows += 1
        if update.accepted:
            self.accepted += 1
        else:
            self.refused += 1
            self.last_refusal = update.reason
        return update


class LearnerProcess:
    """
    Identifies windows in a child process, one at a time; called from a thread that may wait.

    :param robot: the robot.
    :param options: further arguments of `Ilic`.
    """

    def __init__(self, robot: Robot, options: dict[str, Any]) -> None:
        self._child = ChildProcess(__name__, (robot, options))

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
            update: Update = self._child.ask((window, parameters, sigma_max))
        except ChildEnded as error:
            raise ControlError(
                f'the learner process {error}, its window is lost; a new one is started',
                code='process_ended',
            ) from error
        except ControlError as error:
            raise ControlError(f'the learner failed: {error}') from error
        return update

    def close(self) -> None:
        """End the child."""
        self._child.close()


def rest_window(ilic: Ilic) -> Window:
    """Return a window of a robot at rest, from which nothing is learned."""
    rest = np.zeros((ilic.window.length, ilic.robot.n))
    return Window(0, rest, rest, rest, rest)


def _begin(setting: tuple[Robot, dict[str, Any]]) -> Callable[[Question], Update]:
    robot, options = setting
    ilic = Ilic(robot, **options)
    # Load and compile what the first window needs.
    ilic.identify(rest_window(ilic))

    def answer(question: Question) -> Update:
        window, ilic.parameters, ilic.sigma_max = question
        return ilic.identify(window)

    return answer


if __name__ == '__main__':
    serve(_begin)
