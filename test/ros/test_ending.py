"""The end of nodes: nothing of them is left on the graph, and nobody is left without an answer."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from action_msgs.msg import GoalStatus
from ros_helpers.identification import SLOW, send
from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import START_S, graph
from running.simulated_bag import simulated_bag

from robot_id.data.cleaning.stamps import header_stamp_ns
from robot_id.data.io.bags.messages import BagMessages
from robot_id_msgs.msg import ErrorCode

MEMORY = Path('/dev/shm')
COMMON = {'robot': 'emps', 'rate_hz': 200.0}


def own_memory(process, before):
    """Segments of shared memory that a process has made for itself."""
    maps = Path(f'/proc/{process.process.pid}/maps').read_text()
    return set(re.findall(r'/dev/shm/(fastrtps_[0-9a-f]{16})$', maps, flags=re.M)) - before


@pytest.mark.parametrize(
    ('name', 'parameters', 'sign'),
    [
        ('ddm_simulator', {**COMMON, 'autostart': True}, 'activate:'),
        ('control_loop', {**COMMON, 'autostart': True}, 'activate:'),
        ('identification_server', {'robot': 'emps'}, 'ready'),
        ('identify_once', {}, ''),
    ],
)
def test_ctrl_c_leaves_no_ghost_and_no_shared_memory(name, parameters, sign, tmp_path):
    if name == 'identification_server':
        parameters = {**parameters, 'data_directory': str(tmp_path)}
    before = {path.name for path in MEMORY.glob('fastrtps_*')}
    with Client(namespace='end') as client:
        before |= {path.name for path in MEMORY.glob('fastrtps_*')}
        with NodeProcess(name, namespace='end', parameters=parameters) as process:
            if sign:
                process.wait_for_log(sign, START_S)
            else:
                client.wait_for_node(f'/end/{name}', START_S)
            own = own_memory(process, before)
            assert process.stop() == 0
        # A participant that is not taken off the graph keeps its memory, and stays for its lease.
        assert not [each for each in own if (MEMORY / each).exists()]


def test_ctrl_c_during_the_first_compilation(tmp_path):
    """A cache that is empty: what is compiled takes a minute."""
    parameters = {'robot': 'tx40', 'autostart': True}
    cache = {'NUMBA_CACHE_DIR': str(tmp_path)}
    with NodeProcess('ddm_simulator', parameters=parameters, environment=cache) as process:
        process.wait_for_log('ready', START_S)
        # It has begun to compile when the first kernel is in the cache or being made.
        deadline = time.monotonic() + START_S
        while process.processor_s < 3.0:
            assert process.process.poll() is None, process.log
            assert time.monotonic() < deadline, process.log
            time.sleep(0.02)
        # Killed, where it does not listen.
        assert process.stop(timeout=20.0) == 0
        assert 'configure: node' not in process.log
        assert 'Traceback' not in process.log


def test_an_identification_that_is_interrupted_has_a_result(tmp_path):
    simulated_bag(tmp_path / 'run')
    settings = {'data_directory': str(tmp_path), 'robot': 'emps'}
    with (
        Client(namespace='ends') as client,
        NodeProcess('identification_server', parameters=settings, namespace='ends') as server,
    ):
        server.wait_for_log('ready', START_S)
        goal = send(client, method='cloe', **SLOW)
        assert goal.accepted
        client.spin_until(lambda: goal.feedback, START_S, 'feedback')
        server.interrupt()
        status, result = goal.result(START_S)
        assert status == GoalStatus.STATUS_ABORTED
        assert result.error_code == ErrorCode.CANCELED
        assert server.stop() == 0


def test_once_records_the_motion_and_not_the_way_to_it(tmp_path):
    """Then the server dies in the middle of the next one, which ends and says so."""
    place = {'data_directory': str(tmp_path), 'robot': 'emps'}
    robot = {**COMMON, 'mode': 'closed_loop', 'autostart': True, 'initial_position': [0.1]}
    motion = {**COMMON, 'start_motion': True, 'approach_share': 0.02}
    once = {'record_s': 1.0, 'settle_s': 0.0, 'wait_for_motion': True}
    with graph(
        ('data_logger', 'once', place),
        ('identification_server', 'once', {**place, 'plots': False}),
        ('trajectory_generator', 'once', motion),
        ('ddm_simulator', 'once', robot),
    ) as (_, server, generator, _):
        with NodeProcess('identify_once', namespace='once', parameters=once) as first:
            assert first.wait(START_S) == 0, first.log
            assert 'verdict=' in first.log
        played = generator.wait_for_log(r'approach_s=(\S+) .*start_ns=(\d+)', START_S)
        begin = int(played[2]) + round(1e9 * float(played[1]))
        assert float(played[1]) > 1.0
        (bag,) = (path for path in tmp_path.iterdir() if (path / 'metadata.yaml').exists())
        assert first_stamp(bag) >= begin
        slow = {**once, 'method': 'cloe'}
        with NodeProcess('identify_once', namespace='once', parameters=slow) as second:
            second.wait_for_log('loading the robot', START_S)
            server.kill()
            assert second.wait(START_S) == 1
            assert 'identification_server has ended without an answer' in second.log


def first_stamp(bag):
    for topic, _, data in BagMessages(bag).messages({'/once/joint_states'}):
        assert topic == '/once/joint_states'
        return header_stamp_ns(data)
    raise AssertionError('no joint states')
