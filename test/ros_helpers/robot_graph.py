"""Simulator, controller and generator as processes in a namespace, and what they publish."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_helpers.client import Client
from ros_helpers.node_process import NodeProcess

# A whole recording fits, so nothing is lost while the test looks elsewhere.
EVERYTHING = QoSProfile(depth=20000, reliability=ReliabilityPolicy.RELIABLE)
START_S = 90.0


@contextlib.contextmanager
def node(name: str, namespace: str = '', **parameters: Any) -> Iterator[NodeProcess]:
    """Run a node until the end of the context, where it must end with exit code 0."""
    process = NodeProcess(name, namespace=namespace, parameters=parameters)
    with process:
        process.wait_for_log('ready', START_S)
        yield process
        if process.process.poll() is None:
            assert process.stop() == 0, process.log
    # Killed on purpose, or ended by itself: the test has looked at it.


def bring_up(client: Client, name: str) -> None:
    """Configure and activate a lifecycle node."""
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert client.change_state(name, transition, START_S), f'{name}: transition {transition}'


def stamps(messages: list[Any]) -> np.ndarray:
    """(N,) stamps in ns."""
    return np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages])


class Health:
    """The last diagnostics of every node."""

    def __init__(self, client: Client) -> None:
        self._messages = client.collect(DiagnosticArray, '/diagnostics', 100)

    def of(self, name: str) -> Any:
        """Return the last status whose name ends so, None before the first."""
        for message in reversed(self._messages):
            for status in message.status:
                if status.name.endswith(name):
                    return status
        return None

    def values(self, name: str) -> dict[str, str]:
        """Return its values."""
        status = self.of(name)
        return {} if status is None else {pair.key: pair.value for pair in status.values}
