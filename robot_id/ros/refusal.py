"""Errors with their own code, and the code of any error."""

from __future__ import annotations

from robot_id.exceptions import RobotIdError
from robot_id.ros.messages import error_code


class Refusal(RobotIdError):
    """
    A request that a node refuses.

    :param code: of robot_id_msgs/ErrorCode.
    :param text: one line with the reason and the way out.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def code_of(error: RobotIdError) -> int:
    """Return the code for the answer of a service or an action."""
    return error.code if isinstance(error, Refusal) else error_code(error)
