"""
What the benchmarks of faults share: a robot that is played, and clocks on what it hears.

A clock starts with the fault (the last good message, the signal, the call) and stops when this
process has the answer, so its own delay is in the figures.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tools')]

from running.client import Client  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402
from running.played_robot import MS, PlayedRobot  # noqa: E402
from running.robot_graph import EVERYTHING, START_S, bring_up, node  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from bench.figure import Figure  # noqa: E402

REPEATS = 5
CONTROLLER = {'robot': 'scara', 'rate_hz': 1000.0}
LEFT = {'robot': 'emps', 'rate_hz': 200.0, 'autostart': True, 'start_motion': True}


def figures(name: str, milliseconds: list[float]) -> list[Figure]:
    """Return median and largest."""
    count = len(milliseconds)
    return [
        Figure(f'{name}: median of {count}', float(np.median(milliseconds)), 'ms'),
        Figure(f'{name}: largest of {count}', max(milliseconds), 'ms'),
    ]


class Watched:
    """Messages of a topic with the seconds at which they came."""

    def __init__(self, client: Client, kind: type, topic: str) -> None:
        self.client, self.seen = client, list[tuple[float, Any]]()
        client.node.create_subscription(kind, topic, self._keep, EVERYTHING)

    def _keep(self, message: Any) -> None:
        self.seen.append((time.monotonic(), message))

    def first(self, since: float, wanted: Callable[[Any], bool], what: str) -> float:
        """Wait for a message after `since`; return how many ms after."""

        def found() -> float | None:
            times = (at for at, message in list(self.seen) if at > since and wanted(message))
            return next(times, None)

        return 1e3 * (self.client.spin_until(found, START_S, what) - since)


class Driver:
    """
    A SCARA that sends its state every 5 ms, drifting, so that its torque is never zero.

    :ivar reference: gives position and velocity of the shoulder's reference at a stamp; it is sent
        one state ahead.
    :ivar sent: when the state of each stamp was sent.
    """

    def __init__(self, client: Client) -> None:
        self.client, self.robot = client, PlayedRobot(client)
        self.commands = Watched(client, Float64MultiArray, 'effort_commands')
        self.value, self.sends, self.last = 0.1, True, 0.0
        self.reference: Callable[[int], tuple[float, float]] | None = None
        self.sent: dict[int, float] = {}
        client.node.create_timer(0.005, self._send)

    def _send(self) -> None:
        if self.sends:
            if self.reference is not None:
                ahead = self.robot.ns + 2 * MS
                q, dq = self.reference(ahead)
                self.robot.point([q, -0.2], [dq, 0.0], ahead)
            self.sent[self.robot.ns + MS] = time.monotonic()
            self.robot.publish([self.value + 1e-15 * self.robot.ns, -0.2])
            if np.isfinite(self.value):
                self.last = time.monotonic()

    def controlled(self) -> None:
        """Wait until the robot is controlled, at a moment of its own."""
        self.sends, self.value, since = True, 0.1, time.monotonic()
        self.commands.first(since, lambda m: any(m.data), 'a torque')
        self.client.spin_for(0.5)


def zero(message: Any) -> bool:
    """Whether a command is zero torque."""
    return not any(message.data)


@contextlib.contextmanager
def controller() -> Iterator[tuple[Client, Driver, NodeProcess]]:
    """Run an active controller against the driver."""
    with (
        Client('bench', 'faults') as client,
        node('ctc_controller', 'faults', **CONTROLLER) as process,
    ):
        bring_up(client, 'ctc_controller')
        yield client, Driver(client), process
