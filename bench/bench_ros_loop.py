"""
The control loop over DDS, with the simulated robot as a process of its own.

Run: .venv/bin/python tools/isolated.py .venv/bin/python -m bench ros_loop
Longer in real time: ... .venv/bin/python -m bench.bench_ros_loop 30
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
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
from robot_id.model import load_robot  # noqa: E402
from robot_id_msgs.action import Identify  # noqa: E402

SIMULATION = 'ddm_simulator: simulation'
RATES = {'emps': 1000.0, 'tx40': 500.0}
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


@contextlib.contextmanager
def loop(robot: str, composed: bool, **settings: Any) -> Iterator[tuple[Client, Health]]:
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

        with graph(*nodes, ('ddm_simulator', '', {**common, **SIMULATOR})):
            bring_up(client, 'ctc_controller')
            bring_up(client, 'ddm_simulator')
            if not settings.get('lock_step'):
                client.spin_until(lambda: mode('holding'), START_S, 'the robot is held')
            assert client.call(Trigger, 'trajectory_generator/start').success
            client.spin_until(lambda: mode('following'), START_S, 'the robot follows')
            yield client, health


@contextlib.contextmanager
def bare_loop(robot: str) -> Iterator[tuple[Client, Health]]:
    """Run the simulator with a node that only answers."""
    common = {'robot': robot, 'rate_hz': RATES[robot], **SIMULATOR, **PRIORITY}
    command = [sys.executable, str(ROOT / 'bench/bare_answer.py')]
    with Client('bench') as client:
        health = Health(client)
        joints = load_robot(robot).n
        with (
            NodeProcess(command, parameters={'joints': joints, **PRIORITY}) as answer,
            graph(('ddm_simulator', '', common)),
        ):
            answer.wait_for_log('ready', START_S)
            bring_up(client, 'ddm_simulator')
            yield client, health


def lock_step_rate(robot: str, seconds: float, composed: bool = True) -> float:
    """Return the steps per second of a loop in lock-step, by the simulator's own count."""
    with loop(robot, composed, lock_step=True, use_sim_time=True) as (client, health):
        client.spin_for(1.5)
        before = len(health.history(SIMULATION))
        client.spin_for(seconds)
        first, *_, last = health.history(SIMULATION)[before - 1 :]
    return _gone(first, last, 'sample') / _gone(first, last, 'time')


def _gone(first: dict[str, str], last: dict[str, str], key: str) -> float:
    return float(last[key]) - float(first[key])


def bench_lock_step(seconds: float = 6.0) -> list[Figure]:
    """Steps per second, as fast as the machine allows."""
    return [
        Figure(
            f'lock-step over DDS: {robot}',
            lock_step_rate(robot, seconds),
            'steps/s',
            target=STEPS_PER_SECOND if robot == 'emps' else None,
        )
        for robot in RATES
    ]


def bench_free_running(seconds: float = 10.0) -> list[Figure]:
    """
    A loop in real time, by what the simulator itself reports every second.

    In one run: a bare round trip, generator and controller in one process, and in two.
    """
    figures = []
    for robot, rate in RATES.items():
        for name, run in (
            ('bare answer', bare_loop(robot)),
            ('one process', loop(robot, True, **PRIORITY)),
            ('two processes', loop(robot, False, **PRIORITY)),
        ):
            with run as (client, health):
                client.spin_for(2.5)
                before = len(health.history(SIMULATION))
                client.spin_for(seconds + 0.5)
                reports = health.history(SIMULATION)[before - 1 :]
            what = f'real time, {robot} at {rate:g} Hz, {name}'
            figures += _of_reports(what, rate, reports, aim=name == 'one process')
    return figures


def _of_reports(name: str, rate: float, reports: list[dict[str, str]], aim: bool) -> list[Figure]:
    def column(key: str) -> np.ndarray:
        return np.array([float(report[key]) for report in reports[1:]])

    first, last = reports[0], reports[-1]
    achieved = float(np.mean(column('rate_hz')))
    samples = _gone(first, last, 'sample')
    missed = 100.0 * _gone(first, last, 'repeated_commands') / samples
    median, p99 = np.median(column('answer_median_us')), np.median(column('answer_p99_us'))

    def at_most(what: str, value: float, unit: str, bound: float) -> Figure:
        if not aim:
            return Figure(f'{name}: {what}', value, unit)
        reached = bound / value if value else 1.0
        return Figure(f'{name}: {what}', value, unit, f'{bound:g} {unit}', reached, 1.0)

    return [
        Figure(name, achieved, 'Hz', 'its rate', achieved / rate, 0.99),
        at_most('samples without a new command', missed, '%', MISSED_PERCENT),
        at_most('state to command, median', float(median), 'us', MEDIAN_US),
        at_most('state to command, p99', float(p99), 'us', P99_US),
        Figure(f'{name}: longest interval', float(column('longest_us').max()), 'us'),
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
                goal.option_keys, goal.option_values = list(SLOW), list(SLOW.values())
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


def main() -> None:
    """Print the figures in real time over so many seconds."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    for figure in bench_free_running(seconds):
        print(f'{figure.name:60s} {figure.value:.6g} {figure.unit}')


if __name__ == '__main__':
    main()
