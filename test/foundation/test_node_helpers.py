"""The helpers that tests of nodes stand on, tried on a node of their own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes]

# A node with a parameter and rclpy's own services, which ends on Ctrl-C with exit code 0.
NODE = """
import rclpy
from rclpy.executors import ExternalShutdownException
rclpy.init()
node = rclpy.create_node('subject')
rate = node.declare_parameter('rate', 1.0).value
label = node.declare_parameter('label', '').value
flags = node.declare_parameter('flags', [False]).value
node.get_logger().info(f'ready {rate} {label} {flags}')
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""
DEAF = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])
print('child', child.pid, flush=True)
child.wait()
"""


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be collected by its parent does not."""
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state != 'Z'


def node(code: str, **options):
    from running.node_process import NodeProcess

    return NodeProcess([sys.executable, '-c', code], **options)


def test_node_takes_parameters_and_namespace_and_ends_on_interrupt():
    from running.client import Client

    parameters = {'rate': 2.5, 'label': "it's 3: yes", 'flags': [True, False]}
    with node(NODE, parameters=parameters, namespace='left') as subject:
        subject.wait_for_log(r"ready 2\.5 it's 3: yes \[True, False\]", timeout=60)
        with Client() as client:
            client.wait_for_node('left/subject')
            (verdict,) = client.set_parameters('/left/subject', {'rate': 4.0})
            assert verdict.successful
            (verdict,) = client.set_parameters('/left/subject', {'rate': 'fast'})
            assert not verdict.successful
        assert subject.stop() == 0, subject.log
    assert 'ready' in subject.log, 'the log outlives the process'


def test_missing_service_is_a_sentence():
    from running.client import Client
    from std_srvs.srv import Trigger

    with Client() as client, pytest.raises(AssertionError, match=r'service nobody_has_it'):
        client.call(Trigger, 'nobody_has_it', timeout=0.5)


def test_node_that_ends_early_fails_with_its_log():
    with (
        node('print("boom", flush=True); raise SystemExit(3)') as subject,
        pytest.raises(AssertionError, match=r'(?s)ended \(3\) before.*boom'),
    ):
        subject.wait_for_log('ready', timeout=60)


def test_node_that_does_not_listen_is_killed_with_all_it_started():
    with node(DEAF) as subject:
        child = int(subject.wait_for_log(r'child (\d+)', timeout=60)[1])
        assert subject.stop(timeout=0.5) == -9
    deadline = time.monotonic() + 10
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(child)


def test_unknown_executable_says_what_to_do():
    from running.node_process import NodeProcess

    with pytest.raises(FileNotFoundError, match=r"'no_such_node'.*NODES of setup\.py"):
        NodeProcess('no_such_node')
