"""Bags and the real `ros2 bag`: info, record, play; skipped where there is none."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest


def why_no_ros2_bag() -> str:
    """Return why `ros2 bag` cannot run here, or ''."""
    if shutil.which('ros2') is None:
        return 'no `ros2` on the PATH: it comes with a ROS installation, not from PyPI'
    done = subprocess.run(['ros2', 'bag', '--help'], capture_output=True, text=True)
    last = (done.stderr.strip().splitlines() or ['no reason given'])[-1]
    return '' if done.returncode == 0 else f'`ros2 bag` does not run: {last}'


NO_ROS2_BAG = why_no_ros2_bag()
pytestmark = [
    pytest.mark.ros,
    pytest.mark.real_processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(NO_ROS2_BAG), reason=NO_ROS2_BAG),
]
START_S = 90.0
SECONDS = 4.0


def info(bag):
    """Return the messages per topic that `ros2 bag info` tells of a bag."""
    done = subprocess.run(['ros2', 'bag', 'info', str(bag)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r'Topic: (\S+) \| Type: (\S+) \| Count: (\d+)', done.stdout)
    assert int(re.search(r'Messages: +(\d+)', done.stdout)[1]) == sum(int(n) for *_, n in found)
    return {topic: (kind, int(count)) for topic, kind, count in found}


@contextlib.contextmanager
def ros2_bag(*arguments):
    """Run `ros2 bag ...` as a process; Ctrl-C at the end of the context must give exit code 0."""
    with tempfile.TemporaryFile('w+') as log:
        process = subprocess.Popen(
            ['ros2', 'bag', *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            code = process.wait(30)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.seek(0)
            text = log.read()
        assert code == 0, text


def logger(folder, namespace):
    from running.node_process import NodeProcess

    settings = {'data_directory': str(folder), 'minimum_free_mb': 1.0, 'flush_period_s': 0.2}
    return NodeProcess('data_logger', parameters=settings, namespace=namespace)


def start(client, name):
    from robot_id_msgs.srv import StartRecording

    request = StartRecording.Request(name=name)
    answer = client.call(StartRecording, 'data_logger/start', request, START_S)
    assert answer.error_code == 0, answer.error_string


def stop(client):
    from robot_id_msgs.srv import StopRecording

    return client.call(StopRecording, 'data_logger/stop').status


@pytest.fixture(scope='module')
def logged(tmp_path_factory):
    """Return a bag that the logger wrote of a simulated robot in /a."""
    from running.client import Client
    from running.node_process import NodeProcess
    from running.simulated_bag import simulated_bag

    folder = tmp_path_factory.mktemp('logged')
    simulated_bag(folder / 'source', seconds=SECONDS)
    with logger(folder, 'a'), Client(namespace='a') as client:
        start(client, 'run')
        settings = {'bag': str(folder / 'source')}
        with NodeProcess('replay', parameters=settings, namespace='a') as replay:
            assert replay.wait(START_S) == 0
        status = stop(client)
    return folder / 'run', status


def test_info_of_a_logged_bag(logged):
    bag, status = logged
    assert info(bag) == {
        '/a/joint_states': ('sensor_msgs/msg/JointState', status.samples),
        '/a/reference': ('trajectory_msgs/msg/JointTrajectory', status.messages[1]),
        '/a/effort_commands': ('std_msgs/msg/Float64MultiArray', status.messages[2]),
    }


def test_bag_of_a_killed_logger_is_read_without_reindex(tmp_path):
    from ros_helpers.source import Source
    from running.client import Client

    from robot_id.data import load

    with (
        logger(tmp_path, 'k') as node,
        Client(namespace='k') as client,
        Source('k', rate=500.0) as source,
    ):
        start(client, 'cut')
        source.start(count=1000)
        client.spin_until(lambda: source.sent >= 800, START_S)
        node.kill()
    topics = info(tmp_path / 'cut')
    kind, count = topics['/k/joint_states']
    assert kind == 'sensor_msgs/msg/JointState'
    # At most what came after the last flush is lost, on a busy machine a few of them.
    assert 400 <= count <= 1000
    assert len(load(tmp_path / 'cut')) == count
    with ros2_bag('play', tmp_path / 'cut', '--rate', '5.0') as playing:
        assert playing.wait(START_S) == 0


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_identification_from_a_recording_of_ros2_bag(tmp_path, storage):
    from running.client import Client
    from running.robot_graph import node
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger

    from robot_id.data import load
    from robot_id.methods.result import Result
    from robot_id.robot import load_robot

    space, bag, rate = f'r_{storage}', tmp_path / 'recorded', 200.0
    topics = [f'/{space}/joint_states', f'/{space}/reference']
    common = {'robot': 'emps', 'rate_hz': rate}
    with (
        node('trajectory_generator', space, **common),
        node('ddm_simulator', space, mode='closed_loop', autostart=True, **common),
        Client(namespace=space) as client,
        ros2_bag('record', '-s', storage, '-o', bag, *topics),
    ):
        states = client.collect(JointState, 'joint_states', 1000)
        # Simulator and generator hear the two topics already; the recorder comes on top.
        for topic, listeners in ((topics[0], 3), (topics[1], 2)):
            client.spin_until(
                lambda t=topic, n=listeners: client.node.count_subscribers(t) >= n,
                START_S,
                f'ros2 bag records {topic}',
            )
        assert client.call(Trigger, 'trajectory_generator/start', timeout=START_S).success
        begun = len(states)
        client.spin_until(lambda: len(states) - begun > 6 * rate, START_S, 'six seconds')
    told = info(bag)
    assert set(told) == set(topics)
    robot = load_robot('emps')
    data = load(bag, robot=robot)
    # A busy recorder may miss a message; such holes are filled, and told.
    assert len(data) == told[topics[0]][1] or 'filled' in ' '.join(data.notes)
    assert told[topics[0]][1] > 5 * rate
    command = [sys.executable, '-m', 'robot_id.cli.main', 'identify', '--robot', 'emps']
    command += ['--data', str(bag), '--json', str(tmp_path / 'result.json')]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    truth = dict(zip(robot.base.names, robot.truth()))
    result = Result.load(tmp_path / 'result.json')
    print(f'{storage}: {told}, M1 {result["M1"]:.2f} kg, true {truth["M1"]:.2f} kg')
    assert result['M1'] == pytest.approx(truth['M1'], rel=0.1)


def test_a_played_bag_gives_what_was_logged(logged, tmp_path):
    from running.client import Client
    from running.node_process import NodeProcess

    from robot_id.data import load
    from robot_id.methods import registry
    from robot_id.robot import load_robot
    from robot_id.ros.qos import LATCHED
    from robot_id_msgs.msg import OnlineStatus

    bag, _ = logged
    sent = info(bag)['/a/joint_states'][1]
    settings = {'robot': 'emps', 'publish_period_s': 0.2}
    names = ('joint_states', 'reference', 'effort_commands')
    with (
        NodeProcess('online_identifier', parameters=settings, namespace='b') as online,
        logger(tmp_path, 'b'),
        Client(namespace='b') as client,
    ):
        online.wait_for_log('ready', START_S)
        heard = client.collect(OnlineStatus, 'online_identifier/status', LATCHED)
        start(client, 'heard')
        moved = [f'/a/{name}:=/b/{name}' for name in names]
        # The delay is for discovery: what is sent before anybody listens is gone.
        with ros2_bag('play', bag, '--delay', '3', '--remap', *moved) as playing:
            assert playing.wait(START_S) == 0
        client.spin_for(1.0)
        status = stop(client)
        seen = heard[-1]
    robot = load_robot('emps')
    direct, again = load(bag, robot=robot), load(tmp_path / 'heard', robot=robot)
    print(f'{sent} played, {status.samples} logged, {status.lost} lost, {seen.samples} on-line')
    assert len(direct) == sent
    assert len(again) == status.samples
    assert status.samples + status.lost == sent
    # The first samples fill its filters; from then on it uses every one, up to the last.
    assert seen.rejected == 0
    assert seen.header.stamp.sec + 1e-9 * seen.header.stamp.nanosec == pytest.approx(SECONDS)
    assert seen.gaps or 0.9 * sent < seen.samples <= sent
    if not status.lost:
        np.testing.assert_array_equal(again.runs[0].position, direct.runs[0].position)
        estimates = [registry.create('idim_wls').estimate(robot, d) for d in (direct, again)]
        np.testing.assert_allclose(estimates[0].values, estimates[1].values, rtol=1e-12)
