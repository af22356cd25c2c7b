"""ILIC beside a control loop: windows are identified in a thread of their own."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from robot_id.control.ilic import Ilic, Update
from robot_id.control.torque_control import Command
from robot_id.control.window import Window


class Learning:
    """
    Feeds the samples of a controller to ILIC and hands back what it found.

    :param ilic: the learner.
    :param at_once: identify within `feed` instead of in a thread: repeatable, but it holds up.
    """

    def __init__(self, ilic: Ilic, at_once: bool) -> None:
        self.ilic = ilic
        self._pool = None if at_once else ThreadPoolExecutor(1, 'ilic')
        self._future: Future[Update] | None = None
        self.windows = self.accepted = self.refused = 0
        self.last_refusal = ''
        self._rest = True
        # What the first window loads and compiles, before there is a loop to hold up; from a robot
        # at rest nothing is learned.
        rest = np.zeros((ilic.window.length, ilic.robot.n))
        ilic.identify(Window(0, rest, rest, rest, rest))

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
                window = self.ilic.take()
                if self._pool is None:
                    return self._count(self.ilic.identify(window))
                # A window that comes before the last one is done is let go.
                if self._future is None:
                    self._future = self._pool.submit(self.ilic.identify, window)
        if self._future is not None and self._future.done():
            update = self.ilic.confirmed(self._future.result())
            self._future = None
            return self._count(update)
        return None

    def close(self) -> None:
        """End the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _count(self, update: Update) -> Update:
        self.windows += 1
        if update.accepted:
            self.accepted += 1
        else:
            self.refused += 1
            self.last_refusal = update.reason
        return update
