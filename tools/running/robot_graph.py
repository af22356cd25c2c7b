"""Simulator, controller and generator as processes in a namespace, and what they publish."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from rclpy.qos import QoSProfile, ReliabilityPolicy
from running.client import Client
from running.node_process import NodeProcess

# A whole recording fits, so nothing is lost while the test looks elsewhere.
EVERYTHING = QoSProfile(depth=20000, reliability=ReliabilityPolicy.RELIABLE)
START_S = 90.0


@contextlib.contextmanager
def graph(*nodes: tuple[str, str, dict[str, Any]]) -> Iterator[list[NodeProcess]]:
    """
    Run nodes until the end of the context, where each must end with exit code 0.

    They are started and ended side by side. Those that ended before, killed on purpose or by
    themselves, the test has looked at.

    :param nodes: executable, namespace and parameters of each.
    """
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(NodeProcess(name, namespace=namespace, parameters=parameters))
            for name, namespace, parameters in nodes
        ]
        try:
            for process in processes:
                process.wait_for_log('ready', START_S)
            yield processes
        except BaseException:
            for process in processes:
                print(f'--- {process.name} ---\n{process.log}')
            raise
        alive = [process for process in processes if process.process.poll() is None]
        for process in alive:
            process.interrupt()
        for process in alive:
            assert process.stop() == 0, process.log


@contextlib.contextmanager
def node(name: str, namespace: str = '', **parameters: Any) -> Iterator[NodeProcess]:
    """Run one node, as `graph` does."""
    with graph((name, namespace, parameters)) as (process,):
        yield process


def bring_up(client: Client, name: str) -> None:
    """Configure and activate a lifecycle node."""
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert client.change_state(name, transition, START_S), f'{name}: transition {transition}'


def stamps(messages: list[Any]) -> np.ndarray:
    """(N,) stamps in ns."""
    return np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages])


class Health:
    """The diagnostics of every node."""

    def __init__(self, client: Client) -> None:
        self.messages = client.collect(DiagnosticArray, '/diagnostics', 100)

    def of(self, name: str) -> Any:
        """Return the last status whose name ends so, None before the first."""
        for message in reversed(self.messages):
            for status in message.status:
                if status.name.endswith(name):
                    return status
        return None

    def values(self, name: str) -> dict[str, str]:
        """Return its values."""
        status = self.of(name)
        return {} if status is None else _values(status)

    def history(self, name: str) -> list[dict[str, str]]:
        """Return all values so far, oldest first, with the seconds of the report as `time`."""
        return [
            {**_values(status), 'time': str(stamps([message])[0] / 1e9)}
            for message in self.messages
            for status in message.status
            if status.name.endswith(name)
        ]


def _values(status: Any) -> dict[str, str]:
    return {pair.key: pair.value for pair in status.values}
