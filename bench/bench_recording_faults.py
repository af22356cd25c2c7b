"""
What a recording loses when its logger, its folder or its disk fails, and when that is told.

Run: .venv/bin/python tools/isolated.py .venv/bin/python -m bench recording_faults
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import rclpy  # noqa: F401  # first: a machine without ROS 2 is told so by this name
from rosbags.rosbag2 import Reader

from bench.fault_parts import LEFT, REPEATS, figures  # isort: skip

from running.client import Client
from running.node_process import NodeProcess, executable
from running.robot_graph import START_S, graph

from bench.figure import Figure
from robot_id_msgs.srv import StartRecording

SPACE = 'recorded'
# Files of this many kB are the largest that may be written, as on a disk that is full then.
FULL_KB = 200
TOLD = 'recording ended early'


@contextlib.contextmanager
def recording(limit_kb: int = 0) -> Iterator[tuple[Client, NodeProcess, Path]]:
    """Record a simulated robot at 200 Hz; yields the logger and the folder of the bag."""
    command = executable('data_logger')
    if limit_kb:
        line = f'ulimit -f {limit_kb}; exec {shlex.quote(command[0])} "$@"'
        command = ['bash', '-c', line, 'logger']
    robot = 'ddm_simulator', SPACE, {**LEFT, 'on_stale': 'hold'}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        Client('bench', SPACE) as client,
        graph(robot),
        NodeProcess(command, parameters={'data_directory': folder}, namespace=SPACE) as logger,
    ):
        logger.wait_for_log('ready', START_S)
        answer = client.call(StartRecording, 'data_logger/start', StartRecording.Request(name='x'))
        assert answer.error_code == 0, answer.error_string
        client.spin_for(1.0)
        yield client, logger, Path(folder) / 'x'


def received(bag: Path) -> float:
    """Return when the last message of a bag was received [s since the epoch]."""
    with Reader(bag) as reader:
        return max(stamp for _, stamp, _ in reader.messages()) / 1e9


def bench_logger_killed() -> list[Figure]:
    """The age of the last sample on disk when the logger is killed, at moments of their own."""
    ages = []
    for count in range(REPEATS):
        with recording() as (client, logger, bag):
            client.spin_for(0.13 * count)
            killed = time.time()
            logger.kill()
            ages.append(1e3 * (killed - received(bag)))
    return figures('kill -9 of the logger: age of the last sample on disk', ages)


def bench_folder_removed() -> list[Figure]:
    """The data folder is removed while it records, until the log says so."""
    taken = []
    for count in range(REPEATS):
        with recording() as (client, logger, bag):
            client.spin_for(0.13 * count)
            begun = time.monotonic()
            shutil.rmtree(bag.parent)
            client.spin_until(lambda logger=logger: TOLD in logger.log, START_S, TOLD)
            taken.append(1e3 * (time.monotonic() - begun))
    return figures('data folder removed: told', taken)


def bench_disk_full() -> list[Figure]:
    """The disk takes no more: the age of the last sample on it when the log says so."""
    ages = []
    for _ in range(3):
        with recording(FULL_KB) as (client, logger, bag):
            client.spin_until(lambda logger=logger: TOLD in logger.log, START_S, TOLD)
            told = time.time()
            ages.append(1e3 * (told - received(bag)))
    return figures('disk full: age of the last sample on disk when it is told', ages)
