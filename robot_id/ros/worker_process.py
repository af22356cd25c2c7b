"""A worker process that can be asked, watched and killed."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from robot_id import exceptions
from robot_id.exceptions import RobotIdError
from robot_id.progress import Cancelled, from_message
from robot_id.ros.refusal import Refusal
from robot_id_msgs.msg import ErrorCode

POLL_S = 0.02
WORKER = sys.executable, '-m', 'robot_id.nodes.identification_worker'


class WorkerProcess:
    """
    Runs one identification at a time in a separate process.

    The process is started before the first request, so that its imports cause no delay, and
    started again after it was killed.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            # Ctrl-C reaches the whole group; the node decides when this process ends.
            ['sh', '-c', 'trap "" INT; exec "$0" "$@"', *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Not in the user's directory: `-m` would import from there.
            cwd='/',
        )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        reader = threading.Thread(
            target=self._read, args=(self._process, self._answers), daemon=True
        )
        reader.start()

    @staticmethod
    def _read(process: subprocess.Popen[str], answers: queue.Queue[dict[str, Any]]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(json.loads(line))
        answers.put({'kind': 'end', 'content': {'code': process.wait()}})

    def run(
        self,
        request: dict[str, Any],
        report: Callable[[float, str], None],
        cancelled: Callable[[], bool],
        time_limit_s: float,
    ) -> dict[str, Any]:
        """
        Identify and return the answer of the worker.

        :param request: see `identification_worker.identify`.
        :param report: called with the fraction done and a text.
        :param cancelled: asked many times a second; True kills the worker.
        :param time_limit_s: the worker is killed after it [s].
        :raises Cancelled: when it was.
        :raises RobotIdError: with what the worker found wrong.
        """
        if self._process.poll() is not None:
            self._start()
        deadline = time.monotonic() + time_limit_s
        process = self._process
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(request) + '\n')
            process.stdin.flush()
        except OSError:
            pass  # It has ended; the reader says so.
        while True:
            if cancelled():
                self._renew()
                raise Cancelled
            if time.monotonic() > deadline:
                self._renew()
                raise Refusal(
                    ErrorCode.TIMEOUT,
                    f'no result within {time_limit_s:g} s: use the action, or raise '
                    'service_time_limit_s',
                )
            try:
                answer = self._answers.get(timeout=POLL_S)
            except queue.Empty:
                continue
            content = answer['content']
            match answer['kind']:
                case 'progress':
                    report(*from_message(content))
                case 'result':
                    return content
                case 'error':
                    raise _error(content['kind'], content['text'])
                case 'end':
                    self._start()
                    raise Refusal(
                        ErrorCode.INTERNAL_ERROR,
                        f'the identification process ended with {content["code"]}: out of memory?',
                    )

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def _renew(self) -> None:
        self.kill()
        self._start()


def _error(kind: str, text: str) -> RobotIdError:
    found = getattr(exceptions, kind, None)
    if found is None:
        return Refusal(ErrorCode.INTERNAL_ERROR, f'{text} (a bug: the log has more)')
    return found(text)
