"""A piece of work in a process of its own: progress, an answer, cancellation, death."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

# Progress is sent at most this often, in seconds.
OFTEN = 0.1


class Job:
    """
    One call of `robot_id.api.work.WORK` in a fresh process.

    :param verb: a key of WORK.
    :param settings: its keyword arguments.
    :ivar answer: what it returned, or why it did not under 'error'; None while it runs.
    """

    def __init__(self, verb: str, number: int, settings: dict[str, Any]) -> None:
        self.verb, self.number, self.settings = verb, number, settings
        context = multiprocessing.get_context('spawn')
        self._pipe, theirs = context.Pipe()
        self.fraction, self.text = 0.0, 'starting'
        self.answer: dict[str, Any] | None = None
        self.process = context.Process(target=_work, args=(theirs, verb, settings), daemon=True)
        self.process.start()
        theirs.close()

    def poll(self) -> bool:
        """Take what the process has sent; return whether it has ended."""
        try:
            while self.answer is None and self._pipe.poll():
                kind, content = self._pipe.recv()
                if kind == 'progress':
                    self.fraction, self.text = content
                else:
                    self.answer = content
        except (EOFError, OSError):
            self.process.join(timeout=1.0)
            code = self.process.exitcode
            self.answer = {'error': f'the process of this work ended (exit code {code})'}
        if self.answer is not None:
            self.process.join(timeout=1.0)
        return self.answer is not None

    def cancel(self) -> None:
        """End the process; the row keeps that it was cancelled."""
        if self.answer is None:
            self.answer = {'error': 'cancelled'}
            self.process.kill()
            self.process.join(timeout=5.0)


def _work(pipe: Connection, verb: str, settings: dict[str, Any]) -> None:
    """Do the work and send its answer; a user's mistake is one line."""
    from robot_id.api.work import WORK
    from robot_id.exceptions import RobotIdError

    last = 0.0

    def progress(fraction: float, text: str = '') -> None:
        nonlocal last
        if time.monotonic() - last > OFTEN:
            last = time.monotonic()
            pipe.send(('progress', (float(fraction), str(text) or 'working')))

    try:
        answer = WORK[verb](progress=progress, **settings)
    except (RobotIdError, OSError) as error:
        answer = {'error': str(error)}
    except MemoryError:
        answer = {'error': 'not enough memory'}
    pipe.send(('answer', answer))
