"""
The control loop over DDS, with the simulated robot as a process of its own.

Run: .venv/bin/python tools/isolated.py .venv/bin/python -m bench ros_loop
The rows of doc/nodes/real_time.md: ... .venv/bin/python -m bench.bench_ros_loop [SECONDS]
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy  # noqa: F401  # first: a machine without ROS 2 is told so by this name

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tools')]

from running.client import Client  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402
from running.robot_graph import START_S, Health, bring_up, graph  # noqa: E402
from running.simulated_bag import simulated_bag  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from bench.figure import Figure  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id_msgs.action import Identify  # noqa: E402
from robot_id_msgs.msg import Option  # noqa: E402

SIMULATION = 'ddm_simulator: simulation'
RATES = {'emps': 1000.0, 'tx40': 500.0}
LOOPS = 'bare answer', 'one process', 'two processes'
# The loop of one axis is faster than its robot, a cancelled identification ends at once.
STEPS_PER_SECOND, CANCEL_S = 1300.0, 0.5
# Of a loop in real time, with the simulator as a process of its own.
MISSED_PERCENT, MEDIAN_US, P99_US = 1.0, 400.0, 1500.0
SLOW = {'optimizer': 'nelder_mead', 'simulations': '1000000', 'start': 'a_priori'}


# A stall of the machine is to be seen in the figures, not to stop the robot.
PATIENT = {'state_timeout_s': 1.0, 'largest_error': 10.0}
SIMULATOR = {'command_timeout_s': 1.0, 'on_stale': 'hold'}
# In real time, where it is permitted: the figures are then those of a machine that is not busy.
PRIORITY = {'real_time_priority': 40}


@dataclass(frozen=True)
class Running:
    """A loop at work: who looks at it, the process of the robot, and those that answer it."""

    client: Client
    health: Health
    simulator: NodeProcess
    answerers: list[NodeProcess]


@dataclass(frozen=True)
class Row:
    """
    What one loop did over a while.

    :param missed: samples without a new command [%].
    :param median: of the time from state to command, p99 likewise [us].
    :param longest: interval between two states [us].
    :param simulator: processor time for each sample [us], likewise of all that answer.
    """

    robot: str
    name: str
    achieved: float
    missed: float
    median: float
    p99: float
    longest: float
    simulator: float
    answerers: float


@contextlib.contextmanager
def loop(robot: str, composed: bool, **settings: Any) -> Iterator[Running]:
    """
    Run a loop, active and moving.

    :param composed: generator and controller in one process instead of two.
    """
    common = {'robot': robot, 'rate_hz': RATES[robot], **settings}
    names = ('control_loop',) if composed else ('trajectory_generator', 'ctc_controller')
    nodes = [(name, '', {**common, **PATIENT}) for name in names]
    with Client('bench') as client:
        health = Health(client)

        def mode(*wanted: str) -> bool:
            return health.values('ctc_controller: control').get('mode') in wanted

        with graph(*nodes, ('ddm_simulator', '', {**common, **SIMULATOR})) as processes:
            bring_up(client, 'ctc_controller')
            bring_up(client, 'ddm_simulator')
            if not settings.get('lock_step'):
                client.spin_until(lambda: mode('holding'), START_S, 'the robot is held')
            assert client.call(Trigger, 'trajectory_generator/start').success
            client.spin_until(lambda: mode('following'), START_S, 'the robot follows')
            yield Running(client, health, processes[-1], processes[:-1])


@contextlib.contextmanager
def bare_loop(robot: str) -> Iterator[Running]:
    """Run the simulator with a node that only answers."""
    common = {'robot': robot, 'rate_hz': RATES[robot], **SIMULATOR, **PRIORITY}
    command = [sys.executable, str(ROOT / 'bench/bare_answer.py')]
    with Client('bench') as client:
        health = Health(client)
        joints = load_robot(robot).n
        with (
            NodeProcess(command, parameters={'joints': joints, **PRIORITY}) as answer,
            graph(('ddm_simulator', '', common)) as (simulator,),
        ):
            answer.wait_for_log('ready', START_S)
            bring_up(client, 'ddm_simulator')
            yield Running(client, health, simulator, [answer])


def lock_step_rate(robot: str, seconds: float, **settings: Any) -> float:
    """Return the steps per second of a loop in lock-step, by the simulator's own count."""
    with loop(robot, True, lock_step=True, use_sim_time=True, **settings) as running:
        reports = _watch(running, 1.5, seconds)[0]
    return _gone(reports, 'sample') / _gone(reports, 'time')


def _watch(running: Running, settle_s: float, seconds: float) -> tuple[list[dict[str, str]], Any]:
    """Return the simulator's reports over a while, and processor seconds (robot, others)."""
    client, history = running.client, lambda: running.health.history(SIMULATION)

    def spent() -> np.ndarray:
        answered = sum(each.processor_s for each in running.answerers)
        return np.array([running.simulator.processor_s, answered])

    client.spin_for(settle_s)
    before = len(history())
    client.spin_until(lambda: len(history()) > before, 5.0, 'a report')
    begun = spent()
    client.spin_for(seconds)
    seen = len(history())
    client.spin_until(lambda: len(history()) > seen, 5.0, 'a report')
    return history()[before:], spent() - begun


def _gone(reports: list[dict[str, str]], key: str) -> float:
    return float(reports[-1][key]) - float(reports[0][key])


def bench_lock_step(seconds: float = 6.0) -> list[Figure]:
    """Steps per second, as fast as the machine allows."""
    return [
        Figure(
            f'lock-step over DDS: {robot}{name}',
            lock_step_rate(robot, seconds, **settings),
            'steps/s',
            target=STEPS_PER_SECOND if robot == 'emps' and settings else None,
        )
        for robot in RATES
        for name, settings in (('', PRIORITY), (', as any process', {}))
    ]


def free_running(robot: str, name: str, seconds: float) -> Row:
    """
    Run a loop in real time and look at what the simulator itself reports every second.

    :param name: 'bare answer', 'one process' or 'two processes' (generator and controller).
    """
    if name == 'bare answer':
        run = bare_loop(robot)
    else:
        run = loop(robot, name == 'one process', **PRIORITY)
    with run as running:
        reports, spent = _watch(running, 2.0, seconds)

    def column(key: str) -> np.ndarray:
        return np.array([float(report[key]) for report in reports[1:]])

    samples = _gone(reports, 'sample')
    missed = 100.0 * _gone(reports, 'repeated_commands') / samples
    return Row(
        robot, name, float(np.mean(column('rate_hz'))), missed,
        float(np.median(column('answer_median_us'))), float(np.median(column('answer_p99_us'))),
        float(column('longest_us').max()), *(1e6 * spent / samples),
    )  # fmt: skip


def bench_free_running(seconds: float = 10.0) -> list[Figure]:
    """
    A loop in real time.

    In one run: a bare round trip, generator and controller in one process, and in two.
    """
    figures = []
    for robot in RATES:
        for name in LOOPS:
            figures += _figures(free_running(robot, name, seconds))
    return figures


def _figures(row: Row) -> list[Figure]:
    rate = RATES[row.robot]
    name = f'real time, {row.robot} at {rate:g} Hz, {row.name}'

    def at_most(what: str, value: float, unit: str, bound: float) -> Figure:
        if row.name != 'one process':
            return Figure(f'{name}: {what}', value, unit)
        reached = bound / value if value else 1.0
        return Figure(f'{name}: {what}', value, unit, f'{bound:g} {unit}', reached, 1.0)

    return [
        Figure(name, row.achieved, 'Hz', 'its rate', row.achieved / rate, 0.99),
        at_most('samples without a new command', row.missed, '%', MISSED_PERCENT),
        at_most('state to command, median', row.median, 'us', MEDIAN_US),
        at_most('state to command, p99', row.p99, 'us', P99_US),
        Figure(f'{name}: longest interval', row.longest, 'us'),
        Figure(f'{name}: processor time of the robot', row.simulator, 'us/sample'),
        Figure(f'{name}: processor time of what answers', row.answerers, 'us/sample'),
    ]


def bench_cancel(repeats: int = 5) -> list[Figure]:
    """How long an identification takes to stop, from the request to the result."""
    taken = []
    with tempfile.TemporaryDirectory() as folder, Client('bench') as client:
        simulated_bag(Path(folder) / 'run')
        settings = {'data_directory': folder, 'robot': 'emps'}
        with graph(('identification_server', '', settings)):
            for _ in range(repeats):
                goal = Identify.Goal(bag='run', method='cloe')
                goal.options = [Option(key=key, value=value) for key, value in SLOW.items()]
                sent = client.send_goal(Identify, 'identification_server/identify', goal, START_S)
                client.spin_until(
                    lambda sent=sent: any('simulations' in f.text for f in sent.feedback),
                    START_S,
                    'the identification works',
                )
                begun = time.perf_counter()
                sent.cancel()
                sent.result()
                taken.append(time.perf_counter() - begun)
    slowest = max(taken)
    return [
        Figure(
            f'cancelled identification, slowest of {repeats}', slowest, 's',
            f'{CANCEL_S:g} s', CANCEL_S / slowest, 1.0,
        )
    ]  # fmt: skip


TITLE = """\
| | samples without a new command | state to command, median | p99 | longest interval | \
processor time per sample: robot | loop |
|---|---|---|---|---|---|---|"""


def main() -> None:
    """Print the rows of doc/nodes/real_time.md, each over so many seconds, and lock-step."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    load = os.getloadavg()[0]
    print(f'{os.cpu_count()} cores, load {load:.2f} before, {seconds:g} s each\n{TITLE}')
    for robot, rate in RATES.items():
        for name in LOOPS:
            r = free_running(robot, name, seconds)
            print(
                f'| {robot}, {rate:g} Hz: {name} | {r.missed:.2f} % | {r.median:.0f} us '
                f'| {r.p99 / 1e3:.2f} ms | {r.longest / 1e3:.1f} ms '
                f'| {r.simulator:.0f} us | {r.answerers:.0f} us |',
                flush=True,
            )
    print(f'wanted of one process: < {MISSED_PERCENT:g} %, {MEDIAN_US:g} us, {P99_US / 1e3:g} ms')
    for figure in bench_lock_step(3.0):
        wanted = f' (wanted {figure.target:g})' if figure.target else ''
        print(f'{figure.name}: {figure.value:.0f} {figure.unit}{wanted}', flush=True)


if __name__ == '__main__':
    main()
