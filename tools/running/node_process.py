"""A node executable as a process of its own: start, wait, stop, read its log."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path


def executable(name: str) -> list[str]:
    """Return the command of a node: from .venv, or from a colcon workspace that is sourced."""
    prefixes = [sys.prefix, *os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)]
    for prefix in prefixes:
        path = Path(prefix) / 'lib/robot_id' / name
        if path.is_file():
            return [str(path)]
    raise FileNotFoundError(
        f"no node executable '{name}' in lib/robot_id of {', '.join(filter(None, prefixes))}; "
        'is it in NODES of setup.py, and was `make setup` run since?'
    )


class NodeProcess:
    """
    A running node executable, used as a context manager.

    ```python
    with NodeProcess('data_logger', parameters={'queue_depth': 50}, namespace='left') as node:
        node.wait_for_log('ready')
        ...
    assert node.stop() == 0
    ```

    :param name: executable in lib/robot_id, or a full command as a list.
    :param parameters: node parameters, passed as `-p key:=value`.
    :param namespace: namespace of the node.
    :param remap: topics and services, old name to new one.
    :param arguments: further arguments, before `--ros-args`.
    :param environment: variables to add.
    """

    def __init__(
        self,
        name: str | Sequence[str],
        *,
        parameters: dict[str, object] | None = None,
        namespace: str = '',
        remap: dict[str, str] | None = None,
        arguments: Sequence[str] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        command = executable(name) if isinstance(name, str) else list(name)
        command += [*arguments, '--ros-args']
        for key, value in (parameters or {}).items():
            command += ['-p', f'{key}:={_yaml(value)}']
        for old, new in (remap or {}).items():
            command += ['-r', f'{old}:={new}']
        if namespace:
            command += ['-r', f'__ns:=/{namespace.strip("/")}']
        self.name = Path(command[0]).name
        self.command = command
        self._folder = Path(tempfile.mkdtemp(prefix='robot_id_node_'))
        self._log_path = self._folder / 'log'
        self._environment = {
            **os.environ,
            'PYTHONUNBUFFERED': '1',
            'RCUTILS_COLORIZED_OUTPUT': '0',
            'ROS_LOG_DIR': str(self._folder),
            **(environment or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._last_log = ''
        self._asked = False

    def __enter__(self) -> NodeProcess:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._last_log = self.log
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> NodeProcess:
        """Start the process, in a group of its own so that nothing of it can be left behind."""
        with self._log_path.open('wb') as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        return self

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process itself, for `pid`, `poll()` and signals."""
        if self._process is None:
            raise RuntimeError(f'{self.name} was not started')
        return self._process

    @property
    def processor_s(self) -> float:
        """Processor time of all its threads so far [s]."""
        tasks = Path(f'/proc/{self.process.pid}/task').glob('*/schedstat')
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    @property
    def log(self) -> str:
        """Everything the node has printed so far; also after its end."""
        if self._log_path.exists():
            return self._log_path.read_text(errors='replace')
        return self._last_log

    def wait_for_log(self, pattern: str, timeout: float = 120.0) -> re.Match[str]:
        """Wait until the log matches a regular expression; fail when the node ends before."""
        deadline = time.monotonic() + timeout
        while True:
            ended = self.process.poll()
            match = re.search(pattern, self.log)
            if match:
                return match
            if ended is not None:
                raise AssertionError(
                    f"{self.name} ended ({ended}) before '{pattern}':\n{self.log}"
                )
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name}: no '{pattern}' in {timeout} s:\n{self.log}")
            time.sleep(0.02)

    def wait(self, timeout: float = 120.0) -> int:
        """Wait until the node ends by itself and return its exit code."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f'{self.name} still runs after {timeout} s:\n{self.log}'
            ) from None

    def interrupt(self) -> None:
        """Ask the node to end as Ctrl-C does, once, and do not wait."""
        if self.process.poll() is None and not self._asked:
            self.process.send_signal(signal.SIGINT)
        self._asked = True

    def stop(self, timeout: float = 60.0) -> int:
        """
        Ask the node to end as Ctrl-C does and return its exit code.

        A node that does not listen is killed; its exit code is then -9.
        """
        self.interrupt()
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout)
        self.kill()
        return self.process.returncode

    def kill(self) -> None:
        """End the node and all it has started, at once (kill -9)."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _yaml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(map(_yaml, value)) + ']'
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)
