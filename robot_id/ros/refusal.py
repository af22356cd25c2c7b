"""Errors with a number of robot_id_msgs/ErrorCode, in the words of a request."""

from __future__ import annotations

import re

from robot_id.exceptions import RobotIdError
from robot_id.ros.messages import error_code

# Of `robot-id`: the field of a request, or the parameter of a node, that says the same.
FIELDS = {
    '--robot': 'the parameter robot',
    '--time-limit': 'the parameter time_limit_s',
}
# These have no field: what is left is what the sentence says without them.
NOT_HERE = re.compile(
    r'(; |, | )(or |otherwise )*(skip the check$|raise --memory)'
    r'| \(--no-clearance[^)]*\)'
)
# A whole command is advice, not a field.
COMMAND = re.compile(r'robot-id [a-z-]+')


def as_request(text: str) -> str:
    """Return an error or a warning in words that a client of the nodes can follow."""
    if COMMAND.search(text):
        return text
    text = NOT_HERE.sub('', text)
    return re.sub(r'(?<![\w-])--[a-z-]+', lambda flag: FIELDS.get(flag[0], flag[0]), text)


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
