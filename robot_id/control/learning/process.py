"""ILIC in a separate process: a window does not disturb the control loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control.child_process import ChildEnded, ChildProcess, serve
from robot_id.control.learning.ilic import Ilic, Update
from robot_id.control.learning.window import Window
from robot_id.exceptions import ControlError
from robot_id.robot import Robot

Array = NDArray[np.float64]
Question = tuple[Window, Array, float]


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
