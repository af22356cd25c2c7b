"""
How long the graph takes to answer a fault, on real processes with their default parameters.

Run: .venv/bin/python tools/isolated.py .venv/bin/python -m bench faults
The column `measured` of doc/nodes/faults.md. A clock starts with the fault (the last good message,
the signal, the call) and stops when this process has the answer, so its own delay is in the
figures.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rclpy  # noqa: F401  # first: a machine without ROS 2 is told so by this name

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tools')]

from lifecycle_msgs.msg import Transition  # noqa: E402
from running.client import Client  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402
from running.played_robot import PlayedRobot  # noqa: E402
from running.robot_graph import EVERYTHING, START_S, Health, bring_up, graph, node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, Header  # noqa: E402

from bench.figure import Figure  # noqa: E402
from robot_id.ros.qos import SERVICE  # noqa: E402
from robot_id.ros.sole_publisher import CLAIMS  # noqa: E402
from robot_id.ros.stamps import to_stamp  # noqa: E402
from robot_id_msgs.srv import EnableLearning, SetDynamicParameters  # noqa: E402

REPEATS = 5
CONTROLLER = {'robot': 'scara', 'rate_hz': 1000.0}
LEFT = {'robot': 'emps', 'rate_hz': 200.0, 'autostart': True}


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
    """A SCARA that sends its state every 5 ms, drifting, so that its torque is never zero."""

    def __init__(self, client: Client) -> None:
        self.client, self.robot = client, PlayedRobot(client)
        self.commands = Watched(client, Float64MultiArray, 'effort_commands')
        self.value, self.sends, self.last = 0.1, True, 0.0
        client.node.create_timer(0.005, self._send)

    def _send(self) -> None:
        if self.sends:
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


def bench_joint_states() -> list[Figure]:
    """Joint states that stop, or are not finite; parameters and models that are refused."""
    stopped, not_finite, refused, calls = [], [], [], []
    with controller() as (client, driver, _):
        for _ in range(REPEATS):
            driver.controlled()
            driver.sends = False
            stopped.append(driver.commands.first(driver.last, zero, 'zero torque'))
            driver.controlled()
            driver.value = np.nan
            not_finite.append(driver.commands.first(driver.last, zero, 'zero torque'))
            driver.controlled()
            request = SetDynamicParameters.Request()
            request.parameters.names, request.parameters.values = ['ZZ1R'], [-50.0]
            refused.append(
                _called(client, SetDynamicParameters, 'set_dynamic_parameters', request)
            )
            calls.append(_called(client, EnableLearning, 'enable_learning', None, 200))
    return [
        *figures('joint states stop: zero torque', stopped),
        *figures('joint states not finite: zero torque', not_finite),
        *figures('a model that is not positive definite: refused', refused),
        *figures('200 service calls at once: the last answer', calls),
    ]


def _called(client: Client, kind: Any, name: str, request: Any, count: int = 1) -> float:
    """Return the ms until the last of so many calls at once is answered."""
    service = client.node.create_client(kind, f'ctc_controller/{name}', qos_profile=SERVICE)
    client.spin_until(service.service_is_ready, START_S, name)
    begun = time.monotonic()
    answers = [service.call_async(request or kind.Request()) for _ in range(count)]
    client.spin_until(lambda: all(answer.done() for answer in answers), START_S, 'answers')
    taken = 1e3 * (time.monotonic() - begun)
    client.node.destroy_client(service)
    return taken


def bench_signals() -> list[Figure]:
    """SIGINT and SIGTERM of an active controller, until its last command, zero torque."""
    found = []
    for name, number in (('SIGINT', signal.SIGINT), ('SIGTERM', signal.SIGTERM)):
        taken = []
        for _ in range(3):
            with controller() as (_, driver, process):
                driver.controlled()
                begun = time.monotonic()
                process.process.send_signal(number)
                taken.append(driver.commands.first(begun, zero, 'zero torque'))
                process.wait(60.0)
        found += figures(f'{name}: zero torque', taken)
    return found


def bench_second_controller() -> list[Figure]:
    """A second controller is refused; one that hears of an earlier one sends no more."""
    up, down = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE
    refused, retired = [], []
    with controller() as (client, driver, _):
        second = NodeProcess(
            'ctc_controller', parameters=CONTROLLER, namespace='faults', remap={'__node': 'second'}
        )
        words = client.node.create_publisher(Header, 'effort_commands/owner', CLAIMS)
        with second:
            second.wait_for_log('ready', START_S)
            assert client.change_state('second', Transition.TRANSITION_CONFIGURE, START_S)
            for _ in range(REPEATS):
                driver.controlled()
                begun = time.monotonic()
                if not client.change_state('second', up, START_S):
                    refused.append(1e3 * (time.monotonic() - begun))
            second.stop()
        for _ in range(REPEATS):
            driver.controlled()
            begun = time.monotonic()
            words.publish(Header(stamp=to_stamp(10**9), frame_id='/other/early 0'))
            client.spin_for(1.0)
            after = [at for at, _ in driver.commands.seen if at > begun]
            retired.append(1e3 * (max(after, default=begun) - begun))
            words.publish(Header())
            client.change_state('ctc_controller', down, START_S)
            client.change_state('ctc_controller', up, START_S)
    return [
        *figures('a second controller: refused', refused),
        *figures('an earlier controller is found: the last command', retired),
    ]


def bench_killed() -> list[Figure]:
    """Kill -9 of generator, controller and robot while the robot moves, in real time."""
    taken: dict[str, list[float]] = {'generator': [], 'controller': [], 'robot': []}
    for _ in range(3):
        for name in taken:
            taken[name].append(_killed(name))
    return [
        *figures('kill -9 of the generator: it brakes', taken['generator']),
        *figures('kill -9 of the controller: zero torque on the robot', taken['controller']),
        *figures('kill -9 of the robot: zero torque is sent', taken['robot']),
    ]


def _killed(victim: str) -> float:
    nodes = (
        ('trajectory_generator', 'killed', LEFT),
        ('ctc_controller', 'killed', {**LEFT, 'largest_error': 10.0}),
        ('ddm_simulator', 'killed', {**LEFT, 'noise': False}),
    )
    with Client('bench', 'killed') as client, graph(*nodes) as processes:
        health = Health(client)
        states = Watched(client, JointState, 'joint_states')
        commands = Watched(client, Float64MultiArray, 'effort_commands')

        def moves() -> bool:
            mode = health.values('ctc_controller: control').get('mode')
            return mode == 'following' and len({m.position[0] for _, m in states.seen[-50:]}) > 20

        client.spin_until(moves, START_S, 'the robot moves')
        generator, loop, robot = processes
        begun = time.monotonic()
        if victim == 'generator':
            told = 'brakes: the reference was lost'
            before = loop.log.count(told)
            generator.kill()
            while loop.log.count(told) == before:
                client.spin_for(0.001)
            return 1e3 * (time.monotonic() - begun)
        if victim == 'controller':
            loop.kill()
            return states.first(begun, lambda m: m.effort[0] == 0.0, 'zero torque')
        robot.kill()
        return commands.first(begun, zero, 'zero torque')
