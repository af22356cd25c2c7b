"""Recordings played onto the topics: complete, in time, and as good as the recording itself."""

from __future__ import annotations

import numpy as np
import pytest
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
START_S = 120.0


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    from running.simulated_bag import simulated_bag

    path = tmp_path_factory.mktemp('source') / 'run'
    simulated_bag(path, seconds=4.0)
    return path


def as_sqlite3(bag, path):
    """Copy a bag the way `ros2 bag record --storage sqlite3` lays it out."""
    from running.typestore import typestore

    with (
        Reader(bag) as reader,
        Writer(path, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer,
    ):
        copies = {
            c.id: writer.add_connection(c.topic, c.msgtype, typestore=typestore())
            for c in reader.connections
        }
        for connection, stamp, data in reader.messages():
            writer.write(copies[connection.id], stamp, data)
    return path


def play(bag, namespace='', **settings):
    from running.node_process import NodeProcess

    return NodeProcess('replay', parameters={'bag': str(bag), **settings}, namespace=namespace)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_identification_from_a_replay_equals_that_from_the_bag(bag, tmp_path, storage):
    from running.client import Client
    from running.node_process import NodeProcess

    from robot_id.data import load
    from robot_id.methods import registry
    from robot_id.robot import load_robot
    from robot_id_msgs.srv import StartRecording, StopRecording

    source = bag if storage == 'mcap' else as_sqlite3(bag, tmp_path / 'copy')
    settings = {
        'data_directory': str(tmp_path / 'data'), 'minimum_free_mb': 1.0, 'queue_depth': 20000,
    }  # fmt: skip
    with (
        NodeProcess('data_logger', parameters=settings, namespace='again') as logger,
        play(source, 'again', wait_timeout_s=START_S) as node,
        Client(namespace='again') as client,
    ):
        request = StartRecording.Request(name='heard')
        answer = client.call(StartRecording, 'data_logger/start', request, START_S)
        assert answer.error_code == 0
        assert node.wait(START_S) == 0
        played = node.wait_for_log(r'played: joint_states=(\d+) reference=(\d+)')
        sent, references = (int(count) for count in played.groups())
        status = client.call(StopRecording, 'data_logger/stop').status
        assert logger.stop() == 0
    robot = load_robot('emps')
    direct, heard = load(bag, robot=robot), load(tmp_path / 'data/heard', robot=robot)
    assert sent == len(direct)
    assert status.samples == len(heard)
    # What is not there was counted.
    assert status.samples + status.lost == sent
    if (status.samples, status.messages[1]) == (sent, references):
        np.testing.assert_array_equal(heard.runs[0].position, direct.runs[0].position)
        np.testing.assert_array_equal(
            heard.runs[0].reference_position, direct.runs[0].reference_position
        )
        estimates = [registry.create('idim_wls').estimate(robot, d) for d in (direct, heard)]
        np.testing.assert_allclose(estimates[0].values, estimates[1].values, rtol=1e-12)
    else:
        assert status.lost or references > status.messages[1]
    print(f'{storage}: {status.samples} samples, {status.lost} lost')


def test_rate_start_clock_and_namespace(bag):
    from rosgraph_msgs.msg import Clock
    from running.client import Client
    from sensor_msgs.msg import JointState

    from robot_id.data.cleaning.stamps import to_ns

    with Client(namespace='b') as client:
        heard = client.collect(JointState, 'joint_states', 5000)
        clocks = client.collect(Clock, '/clock', 5000)
        with play(bag, 'b', rate=2.0, start_s=3.0, clock=True) as node:
            client.spin_until(lambda: heard, what='the first joint state')
            client.spin_until(lambda: node.process.poll() is not None, 60, 'end of the replay')
            played = float(node.wait_for_log(r'latest_ms=([\d.e+-]+)')[1])
            assert node.wait(START_S) == 0
        # On a busy machine what has arrived is taken out later than the player ends.
        client.spin_until(lambda: len(heard) >= 1001, 30, 'all joint states')
        client.spin_for(0.5)
    stamps = np.array([to_ns(message.header.stamp) for message in heard])
    times = np.array([to_ns(message.clock) for message in clocks])
    assert stamps[0] == 3_000_000_000
    assert len(stamps) == 1001
    assert np.all(np.diff(stamps) == 1_000_000)
    assert len(times) > 500
    assert np.all(np.isin(times, stamps))
    assert np.all(np.diff(times) > 0)
    print(f'largest delay of a message {played:.3g} ms')


def test_loop_pause_and_change_of_rate(bag):
    from running.client import Client
    from sensor_msgs.msg import JointState
    from std_srvs.srv import SetBool

    from robot_id.data.cleaning.stamps import to_ns

    with (
        Client(namespace='c') as client,
        play(bag, 'c', loop=True, paused=True, start_s=3.5) as node,
    ):
        heard = client.collect(JointState, 'joint_states', 1000)
        node.wait_for_log('ready', START_S)
        client.spin_for(0.5)
        assert not heard
        assert client.call(SetBool, 'replay/pause', SetBool.Request(data=False)).success
        client.spin_until(lambda: heard, what='joint states after the pause')
        assert client.set_parameters('replay', {'rate': 5.0})[0].successful
        assert not client.set_parameters('replay', {'rate': -1.0})[0].successful

        def began_anew():
            stamps = [to_ns(message.header.stamp) for message in heard]
            return (np.diff(stamps) < 0).sum() >= 2

        client.spin_until(began_anew, what='the recording to begin anew')
        client.call(SetBool, 'replay/pause', SetBool.Request(data=True))
        client.spin_for(0.2)
        places = []
        for _ in range(2):
            answer = client.call(SetBool, 'replay/pause', SetBool.Request(data=True))
            places.append(answer.message)
            client.spin_for(0.3)
        assert places[0] == places[1]
        assert node.stop() == 0


@pytest.mark.parametrize(
    ('settings', 'text'),
    [
        ({'bag': ''}, 'parameter bag is not set'),
        ({'bag': 'broken'}, 'not an mcap'),
    ],
)
def test_bad_settings_end_the_node_with_one_line(bag, tmp_path, settings, text):
    from running.node_process import NodeProcess

    if settings.get('bag') == 'broken':
        (tmp_path / 'broken').mkdir()
        (tmp_path / 'broken/broken.mcap').write_bytes(b'nothing of the kind')
        settings = {'bag': str(tmp_path / 'broken')}
    with NodeProcess('replay', parameters={'bag': str(bag), **settings}) as node:
        assert node.wait(START_S) == 2
        assert text in node.log
        assert 'Traceback' not in node.log
