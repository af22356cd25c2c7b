"""Requests for another model: checked one by one beside the loop, taken over by the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from robot_id.control.child_process import ChildProcess, ChildTimeout
from robot_id.exceptions import ControlError
from robot_id.ros.model_check import Checked, Question, Refused, Setting
from robot_id.ros.refusal import Refusal
from robot_id.ros.request_poll import Reply
from robot_id_msgs.msg import ErrorCode

# Requests that may wait for their check; the next one is refused.
MOST_WAITING = 8
# Time for a check [s]: a good model takes 0.1 s.
CHECK_S = 5.0
CHECKER = 'robot_id.ros.model_checker'


@dataclass
class Asked:
    """
    A request under way.

    :param update: number of the model that it was checked against.
    :param outcome: None until it is known.
    """

    request: Any
    reply: Reply
    update: int = -1
    outcome: Checked | Refused | None = None


class HandOver:
    """
    A queue of requests, and the process that checks them.

    The loop calls `put` and `take`, which never wait.

    :param setting: of the checks.
    :param question: returns the question for a request, with the model in use now, and its number.
    """

    def __init__(self, setting: Setting, question: Callable[[Any], tuple[Question, int]]) -> None:
        self._question = question
        self._child = ChildProcess(CHECKER, setting)
        # It only waits for the process.
        self._waiter = ThreadPoolExecutor(1, 'model check')
        self._waiting: deque[Asked] = deque()
        self._asked: Asked | None = None
        self._future: Future[Checked | Refused] | None = None
        self._waiter.submit(self._child.ask, question(None)[0])

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._child.pid

    def put(self, request: Any, reply: Reply) -> None:
        """
        Take in a request.

        :raises Refusal: when too many wait.
        """
        if len(self._waiting) >= MOST_WAITING:
            raise Refusal(
                ErrorCode.BUSY, f'{MOST_WAITING} requests wait to be checked: try again later'
            )
        self._waiting.append(Asked(request, reply))

    def take(self) -> Asked | None:
        """Return a request whose check is done, if there is one; else begin the next check."""
        done = None
        if self._future is not None and self._future.done():
            assert self._asked is not None
            done, self._asked.outcome = self._asked, self._future.result()
            self._asked = self._future = None
        elif self._future is None and self._waiting:
            self._asked = self._waiting.popleft()
            question, self._asked.update = self._question(self._asked.request)
            self._future = self._waiter.submit(self._check, question)
        return done

    def again(self, asked: Asked) -> None:
        """Check a request anew, before the others: the model has changed meanwhile."""
        self._waiting.appendleft(asked)

    def close(self) -> None:
        """End the process; requests that wait are refused."""
        for asked in ([self._asked] if self._asked else []) + list(self._waiting):
            asked.reply.refuse(ErrorCode.INVALID_STATE, 'the controller ends')
        self._waiting.clear()
        self._asked = self._future = None
        self._child.close()
        self._waiter.shutdown(wait=False, cancel_futures=True)

    def _check(self, question: Question) -> Checked | Refused:
        """Ask the child; in the thread that waits."""
        try:
            found: Checked | Refused = self._child.ask(question, CHECK_S)
            return found
        except ChildTimeout:
            why = ErrorCode.TIMEOUT, f'the check took over {CHECK_S:g} s: the model stays as it is'
        except ControlError as error:
            why = ErrorCode.INTERNAL_ERROR, f'the check of the model failed: {error}'
        # A new child: its start is not part of the time of the next check.
        self._waiter.submit(self._child.ask, self._question(None)[0])
        return Refused(*why)
