"""Nodes of this package as processes of a command: found, started, and ended before it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from robot_id.exceptions import DataError

# Names the security enclave of a process (SROS 2); each node has one of its own.
ENCLAVE = 'ROS_SECURITY_ENCLAVE_OVERRIDE'
# s that a node gets to end by itself.
END_S = 10.0


class NodeProcesses:
    """
    Starts nodes of one robot.

    :param namespace: of all of them.
    :param ros_args: remappings, parameters and files of parameters, as after `--ros-args`.
    :param folder: for their files of parameters.
    """

    def __init__(self, namespace: str, ros_args: Sequence[str], folder: Path) -> None:
        self.words = ros_words(namespace, ros_args)
        self._folder = folder

    def start(
        self, name: str, parameters: Mapping[str, object], alone: bool = False
    ) -> subprocess.Popen[bytes]:
        """
        Start a node; these parameters win over those of `ros_args`.

        :param alone: whether it is out of reach of a Ctrl-C on the terminal.
        """
        file = self._folder / f'{name}.yaml'
        content = {key: value for key, value in parameters.items() if value != ''}
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': content}}))
        line = [_executable(name), *self.words, '--params-file', str(file)]
        return subprocess.Popen(line, start_new_session=alone, env=_environment(name))


def ros_words(namespace: str, ros_args: Sequence[str]) -> list[str]:
    """Return the arguments of ROS for a process."""
    space = ['-r', f'__ns:=/{namespace.strip("/")}'] if namespace else []
    return ['--ros-args', *space, *(word for word in ros_args if word != '--ros-args')]


def wait(process: subprocess.Popen[bytes]) -> int:
    """
    Wait for a node and return its exit code; an interrupt ends it first, and then this command.

    A terminal tells the node too; who ends this command alone (`kill`, a launch file) does not.
    """
    try:
        return process.wait()
    except KeyboardInterrupt:
        # It may have a robot to bring to rest: nothing else ends this process before.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def end(process: subprocess.Popen[bytes]) -> None:
    """End a node as Ctrl-C does; at once where it does not answer."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _executable(name: str) -> str:
    prefixes = [sys.prefix, *os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)]
    for prefix in filter(None, prefixes):
        path = Path(prefix) / 'lib/robot_id' / name
        if path.is_file():
            return str(path)
    raise DataError(f"no node '{name}': source ROS 2 and the workspace of robot_id, or `make`")


def _environment(name: str) -> dict[str, str]:
    """Return the environment of a node: its own enclave, beside that of this process."""
    parent, _, own = os.environ.get(ENCLAVE, '').rpartition('/')
    return {**os.environ, **({ENCLAVE: f'{parent}/{name}'} if own else {})}
