"""
How soon the controller answers a bad reference, a robot that leaves it, and stamps that jump back.

Run: .venv/bin/python tools/isolated.py .venv/bin/python -m bench reference_faults
The clock starts when the joint state is sent for which the fault holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy  # noqa: F401  # first: a machine without ROS 2 is told so by this name

from bench.fault_parts import REPEATS, Driver, controller, figures  # isort: skip

from lifecycle_msgs.msg import Transition
from running.client import Client
from running.node_process import NodeProcess
from running.played_robot import MS
from running.robot_graph import START_S

from bench.figure import Figure
from robot_id.control.runtime.torque_control import error_limits
from robot_id.robot import load_robot

# A robot that is held where it stands needs next to no torque [N m]; one that follows does.
HELD = 0.05
AT = 0.1
BAD = {
    'far': (3.0, 0.0),
    'fast': (AT, 5.0),
    'not finite': (np.nan, 0.0),
}
RAMP = 1.0  # rad/s, away from a robot that does not move


def held(message: Any) -> bool:
    """Whether a command is that of a robot that is held where it stands."""
    return float(np.abs(message.data).max()) < HELD


def bench_bad_reference() -> list[Figure]:
    """A reference that is not to be followed, until the answer to the first state it is for."""
    taken: dict[str, list[float]] = {name: [] for name in BAD}
    with controller() as (client, driver, _):
        for _ in range(REPEATS):
            for name, point in BAD.items():
                driver.reference = None
                driver.controlled()
                taken[name].append(_answered(client, driver, lambda _, point=point: point))
    return [
        figure
        for name in BAD
        for figure in figures(f'a reference that is {name}: held', taken[name])
    ]


def _answered(
    client: Client, driver: Driver, reference: Callable[[int], tuple[float, float]]
) -> float:
    """Return the ms to the answer of the first state of a reference; the robot stays held."""
    first = driver.robot.ns + 3 * MS
    driver.reference = reference
    since = client.spin_until(lambda: driver.sent.get(first), START_S, 'the state')
    found = driver.commands.first(since, held, 'the robot is held')
    client.spin_for(0.3)
    after = [message for at, message in driver.commands.seen if at > since]
    assert all(map(held, after)), 'the reference was followed'
    return found


def bench_robot_leaves() -> list[Figure]:
    """The reference moves away from a robot that does not move, until that robot is held."""
    limit = error_limits(load_robot('scara'), 0.0)[0]
    taken = []
    with controller() as (client, driver, process):
        for _ in range(REPEATS):
            _reactivate(client)
            driver.controlled()
            _follow(client, driver, process)
            begin = driver.robot.ns

            def away(ns: int, begin: int = begin) -> tuple[float, float]:
                return AT + RAMP * max(ns - begin, 0) / 1e9, RAMP

            driver.reference = away
            left = begin + int(1e9 * limit / RAMP)
            left += MS - (left - begin) % MS
            since = client.spin_until(lambda at=left: driver.sent.get(at), START_S, 'it leaves')
            before = driver.commands.seen[-1][1]
            assert not held(before), 'no torque while it still follows'
            taken.append(driver.commands.first(since, held, 'the robot is held'))
            driver.reference = None
        assert process.log.count('held until it is activated again') == REPEATS
    return figures('the robot leaves its reference: held', taken)


def _follow(client: Client, driver: Driver, process: NodeProcess) -> None:
    told = 'follows the reference'
    before = process.log.count(told)
    driver.reference = lambda _: (AT, 0.0)
    client.spin_until(lambda: process.log.count(told) > before, START_S, told)


def _reactivate(client: Client) -> None:
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
        client.change_state('ctc_controller', transition, START_S)


def bench_time_jumps_back() -> list[Figure]:
    """Stamps that begin anew, until the robot is held by them."""
    taken = []
    with controller() as (client, driver, process):
        for count in range(REPEATS):
            driver.robot.ns = (20 + 10 * count) * 10**9
            _reactivate(client)
            driver.controlled()
            driver.robot.ns = 10**9
            driver.sent.clear()
            since = client.spin_until(lambda: driver.sent.get(10**9 + MS), START_S, 'the state')
            taken.append(driver.commands.first(since, held, 'the robot is held'))
        client.spin_for(0.5)
        assert process.log.count('time was reset') == REPEATS
    return figures('stamps jump back: held', taken)
