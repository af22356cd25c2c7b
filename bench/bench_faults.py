"""
How long the graph takes to answer a fault, on real processes with their default parameters.

Run: .venv/bin/python tools/isolated.py .venv/bin/python -m bench faults
The column `measured` of doc/nodes/faults.md, with the topics `reference_faults` and
`recording_faults`.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import rclpy  # noqa: F401  # first: a machine without ROS 2 is told so by this name

from bench.fault_parts import CONTROLLER, LEFT, REPEATS, Watched, controller, figures, zero  # isort: skip

from lifecycle_msgs.msg import Transition
from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import START_S, Health, graph
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from bench.figure import Figure
from robot_id.ros.durations import to_stamp
from robot_id.ros.qos import SERVICE
from robot_id.ros.sole_publisher import CLAIMS
from robot_id_msgs.srv import EnableLearning, SetDynamicParameters

# Of the learner.
WINDOW_S = 2.0


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


def bench_learner_killed() -> list[Figure]:
    """Kill -9 of the learner: the longest pause of the commands, and the next window."""
    before, pauses, windows = [], [], []
    nodes = (
        ('control_loop', 'taught', {**LEFT, 'learning': True, 'window_s': WINDOW_S}),
        ('ddm_simulator', 'taught', LEFT),
    )
    with Client('bench', 'taught') as client, graph(*nodes):
        health = Health(client)
        commands = Watched(client, Float64MultiArray, 'effort_commands')

        def learning(key: str) -> int:
            return int(health.values('ctc_controller: learning').get(key, 0))

        def wait_for_window() -> None:
            before = learning('windows')
            client.spin_until(lambda: learning('windows') > before, START_S, 'a window')

        def longest(since: float, seconds: float) -> float:
            at = [moment for moment, _ in commands.seen if since < moment < since + seconds]
            return 1e3 * float(np.diff(at).max())

        for _ in range(3):
            wait_for_window()
            client.spin_for(5.0)
            begun = time.monotonic()
            before.append(longest(begun - 5.0, 5.0))
            lost = learning('lost')
            os.kill(learning('learner_pid'), signal.SIGKILL)
            client.spin_until(lambda lost=lost: learning('lost') > lost, START_S, 'the loss')
            wait_for_window()
            windows.append(1e3 * (time.monotonic() - begun))
            pauses.append(longest(begun, 5.0))
    return [
        *figures(f'kill -9 of the learner: the next window of {WINDOW_S:g} s', windows),
        *figures('longest pause of the commands at 200 Hz in the 5 s before', before),
        *figures('the same in the 5 s after kill -9 of the learner', pauses),
    ]
