"""Requests to other nodes from a thread that waits for their answers."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import Any

# s without the other node, after which it will not answer; s from one look to the next.
GONE_S, LOOK_S = 5.0, 0.2


class Failed(Exception):
    """Another node failed, or did not answer."""


def ask(
    node: Any,
    send: Callable[[], Any],
    limit: float | None,
    what: str,
    present: Callable[[], bool] = lambda: True,
) -> Any:
    """
    Return the answer to a request.

    It is sent by the thread that also takes the answers: rclpy drops an answer that another
    thread takes before the request is noted.

    :param send: sends the request and returns its future.
    :param limit: seconds; None for as long as the other node is there.
    :param what: the other node, for messages.
    :param present: whether the other node is there.
    :raises Failed: without an answer.
    """
    answers: queue.Queue[Any] = queue.Queue()

    def work() -> None:
        send().add_done_callback(lambda future: answers.put(future.result()))

    assert node.executor is not None
    node.executor.create_task(work)
    begun = seen = time.monotonic()
    while True:
        try:
            return answers.get(timeout=LOOK_S)
        except queue.Empty:
            now = time.monotonic()
        if limit is None and present():
            seen = now
        if limit is not None and now - begun > limit:
            raise Failed(f'no answer from {what} within {limit:g} s')
        if limit is None and now - seen > GONE_S:
            raise Failed(f'{what} has ended without an answer')
