"""A running robot as the page sees it: a process that listens, and the last seconds of it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections import deque
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Seconds that are shown.
SPAN_S = 30.0
CHANNELS = ('position', 'velocity', 'torque')
# Seconds that the process has to end by itself.
PATIENCE_S = 3.0


def without_ros() -> str:
    """Return why there is no live view here, '' where there is."""
    missing = [name for name in ('rclpy', 'robot_id_msgs') if find_spec(name) is None]
    return f'needs ROS 2: {" and ".join(missing)} not found' if missing else ''


class Live:
    """
    The process that listens, and what it has heard.

    :param robot: that is expected; `settings` are the parameters of the process.
    :param joint_states: topic; `namespace` that of all names.
    :ivar told: kind of a line -> the last one of it.
    :ivar error: why the process has ended, '' while it runs.
    """

    def __init__(
        self, robot: Any, settings: dict[str, str], joint_states: str, namespace: str
    ) -> None:
        self.robot = robot
        command = [sys.executable, '-m', 'robot_id.nodes.studio_feed', '--ros-args']
        for name, value in settings.items():
            command += ['-p', f'{name}:={json.dumps(value)}']
        command += ['-r', f'joint_states:={joint_states}']
        if namespace.strip('/'):
            command += ['-r', f'__ns:=/{namespace.strip("/")}']
        # Not in the user's folder: `-m` would import from there.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd='/',
        )  # fmt: skip
        self.told: dict[str, dict[str, Any]] = {}
        self.error = ''
        self.ended = False
        self._rows: deque[tuple[float, list[float]]] = deque()
        self._lines: deque[str] = deque()
        self._log: deque[str] = deque(maxlen=20)
        self._readers = [
            threading.Thread(target=lines.extend, args=(stream,), daemon=True)
            for lines, stream in (
                (self._lines, self._process.stdout), (self._log, self._process.stderr)
            )
        ]  # fmt: skip
        for reader in self._readers:
            reader.start()

    def poll(self) -> None:
        """Take what the process has heard since the last time."""
        ended = self._process.poll() is not None and not self._readers[0].is_alive()
        while self._lines:
            self._take(json.loads(self._lines.popleft()))
        if ended and not self.ended:
            self.ended = True
            self._readers[1].join(PATIENCE_S)
            reasons = [line for line in self._log if '[FATAL]' in line] or list(self._log)
            why = reasons[-1].partition(']: ')[2] or reasons[-1] if reasons else ''
            self.error = why.strip() or f'exit code {self._process.returncode}'

    def _take(self, line: dict[str, Any]) -> None:
        kind = line['kind']
        self.told[kind] = line
        if kind == 'restart':
            self._rows.clear()
        elif kind == 'states':
            self._rows.extend(zip(line['time'], line['rows']))
            while self._rows[-1][0] - self._rows[0][0] > SPAN_S:
                self._rows.popleft()

    def window(self) -> tuple[Array, dict[str, Array]]:
        """Return the last seconds, (N,) from 0 to SPAN_S, and the channels that were heard."""
        if not self._rows:
            return np.empty(0), {}
        time = np.array([at for at, _ in self._rows])
        parts = np.split(np.array([row for _, row in self._rows]), len(CHANNELS), axis=1)
        heard = {name: x for name, x in zip(CHANNELS, parts) if np.isfinite(x).any()}
        return time - time[-1] + SPAN_S, heard

    def ask(self, what: str, name: str = '') -> None:
        """Ask the logger to `start` or to `stop`; the answer comes with a later poll."""
        self.told.pop('answer', None)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({'ask': what, 'name': name}) + '\n')
            self._process.stdin.flush()
        except OSError:
            pass  # It has ended, and the next poll says why.

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.ended = True
