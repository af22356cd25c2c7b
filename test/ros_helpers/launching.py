"""Launch files as a user runs them: `ros2 launch`, or the same service without ros2cli."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle_msgs.srv import GetState
from running.robot_graph import START_S
from sensor_msgs.msg import JointState

LAUNCH = Path(__file__).resolve().parents[2] / 'launch'
# For the last output of processes that were killed.
KILLED_S = 10.0
# What `ros2 launch FILE key:=value ...` does.
RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
path, *given = sys.argv[1:]
include = IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path), launch_arguments=[g.split(':=', 1) for g in given])
service = LaunchService()
service.include_launch_description(LaunchDescription([include]))
sys.exit(service.run())
"""


def command(file: str, *arguments: str) -> list[str]:
    """Return the command line that runs a launch file."""
    ros2 = shutil.which('ros2')
    start = [ros2, 'launch'] if ros2 else [sys.executable, '-c', RUN]
    return [*start, str(LAUNCH / f'{file}.launch.py'), *arguments]


class Launched:
    """
    A launch file that runs, in a process group of its own.

    :ivar process: the process.
    :ivar output: what it and its nodes have printed, once it has ended.
    """

    def __init__(self, file: str, *arguments: str) -> None:
        self.output = ''
        self.process = subprocess.Popen(
            command(file, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**os.environ, 'PYTHONUNBUFFERED': '1', 'RCUTILS_COLORIZED_OUTPUT': '0'},
        )

    def wait(self, timeout: float = 240.0) -> int:
        """Wait until it ends by itself and return its exit code."""
        try:
            self.output = self.process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f'did not end in {timeout:g} s:\n{self.output}') from None
        return self.process.returncode

    def interrupt(self, timeout: float = 60.0) -> int:
        """End it as Ctrl-C does and return its exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.wait(timeout)

    def kill(self) -> None:
        """End it and all nodes at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        # What has left the group may still hold the pipe.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.output = self.process.communicate(timeout=KILLED_S)[0]


@contextlib.contextmanager
def launched(file: str, *arguments: str) -> Iterator[Launched]:
    """Run a launch file; nothing of it is left after the context."""
    launch = Launched(file, *arguments)
    try:
        yield launch
    finally:
        if launch.process.poll() is None:
            launch.kill()


def wait_until_active(client: Any, node: str) -> None:
    """
    Wait for a lifecycle node, before it is interrupted.

    launch_ros ends with an error where Ctrl-C meets a change of state that it has asked for.
    """
    client.spin_until(
        lambda: (
            client.call(GetState, f'{node}/get_state', timeout=START_S).current_state.label
            == 'active'
        ),
        START_S,
        f'{node} is active',
    )


def wait_until_it_moves(client: Any) -> None:
    """Wait for joint states of a robot that has left its start."""
    states = client.collect(JointState, 'joint_states', 1000)
    client.spin_until(
        lambda: states and max(abs(s.position[0]) for s in states) > 0.05,
        START_S,
        'the robot moves',
    )
