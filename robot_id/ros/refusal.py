"""Errors with a number of robot_id_msgs/ErrorCode, and that of any error."""

from __future__ import annotations

from robot_id.exceptions import RobotIdError
from robot_id.ros.messages import error_code


class Refusal(RobotIdError):
    """
    A request that a node refuses.

    :param number: of robot_id_msgs/ErrorCode.
    :param text: one line with the reason and the way out.
    """

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


def code_of(error: RobotIdError) -> int:
    """Return the code for the answer of a service or an action."""
    return error.number if isinstance(error, Refusal) else error_code(error)
