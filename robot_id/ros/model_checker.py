"""The child process of a controller that checks models, see `model_check`."""

from __future__ import annotations

from collections.abc import Callable

from robot_id.control.child_process import serve
from robot_id.exceptions import RobotIdError
from robot_id.ros.model_check import Checked, Question, Refused, Setting, check
from robot_id.ros.refusal import code_of
from robot_id_msgs.srv import SetDynamicParameters


def _begin(setting: Setting) -> Callable[[Question], Checked | Refused]:
    def answer(question: Question) -> Checked | Refused:
        if question.request is None:
            # Load and compile what the first request needs.
            question = _as_it_is(setting, question)
        try:
            return check(setting, question)
        except RobotIdError as error:
            return Refused(code_of(error), str(error))

    return answer


def _as_it_is(setting: Setting, question: Question) -> Question:
    """Return the question whether the present model may stay."""
    request = SetDynamicParameters.Request()
    request.parameters.names = list(setting.robot.base.names)
    request.parameters.values = question.current.tolist()
    return Question(request, question.current, question.load, question.identified)


if __name__ == '__main__':
    serve(_begin)
