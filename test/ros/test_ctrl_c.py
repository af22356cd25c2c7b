"""Ctrl-C or SIGTERM ends every node with exit code 0, no traceback: as it loads, idle, at work."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')

from running.node_process import NodeProcess

NODES = (
    'control_loop', 'ctc_controller', 'data_logger', 'ddm_simulator', 'effort_relay',
    'identification_server',
    'identify_once', 'motion_player', 'online_identifier', 'replay',
    'trajectory_generator',
)  # fmt: skip


def listens(process):
    """Whether it catches SIGTERM, which Python alone does not."""
    status = Path(f'/proc/{process.process.pid}/status').read_text()
    caught = next(line for line in status.splitlines() if line.startswith('SigCgt'))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_while_they_load_their_libraries(number):
    processes = [NodeProcess(name).start() for name in NODES]
    try:
        for process in processes:
            deadline = time.monotonic() + 60.0
            while not listens(process):
                assert time.monotonic() < deadline
                time.sleep(0.002)
            process.process.send_signal(number)
        codes = {process.name: process.wait(60.0) for process in processes}
        assert codes == dict.fromkeys(NODES, 0)
        assert not [p.name for p in processes if 'Traceback' in p.log]
    finally:
        for process in processes:
            process.__exit__()


def test_a_robot_at_work_and_by_sigterm(tmp_path):
    common = {'robot': 'emps', 'rate_hz': 200.0, 'autostart': True, 'start_motion': True}
    settings = {
        'ddm_simulator': common,
        'ctc_controller': {**common, 'learning': True, 'window_s': 1.0},
        'trajectory_generator': common,
        'online_identifier': {'robot': 'emps'},
    }
    processes = [
        NodeProcess(name, parameters=given, namespace='busy').start()
        for name, given in settings.items()
    ]
    try:
        for process in processes:
            process.wait_for_log('ready', 120.0)
        processes[1].wait_for_log('follows the reference', 120.0)
        processes[3].wait_for_log('estimating', 120.0)
        for process, number in zip(processes, (signal.SIGTERM, *[signal.SIGINT] * 3)):
            process.process.send_signal(number)
            # The terminal and `ros2 launch` both send one.
            process.process.send_signal(number)
        for process in processes:
            assert process.wait(60.0) == 0, process.log
            assert 'Traceback' not in process.log
    finally:
        for process in processes:
            process.__exit__()
