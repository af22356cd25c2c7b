"""The data logger on real processes: nothing lost, nothing overwritten, safe against any end."""

from __future__ import annotations

import shlex
import shutil
import time

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(120)]

NAMESPACE = 'left'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('recordings')


@pytest.fixture(scope='module')
def logger(folder):
    from running.node_process import NodeProcess

    settings = {'data_directory': str(folder), 'minimum_free_mb': 1.0, 'flush_period_s': 0.2}
    with NodeProcess('data_logger', parameters=settings, namespace=NAMESPACE) as node:
        node.wait_for_log('ready', 120)
        yield node
    assert node.stop() == 0


@pytest.fixture(scope='module')
def client(logger):
    from running.client import Client

    with Client(namespace=NAMESPACE) as client:
        yield client


def start(client, name='', duration=0.0, node='data_logger'):
    from robot_id.ros.durations import to_duration
    from robot_id_msgs.srv import StartRecording

    request = StartRecording.Request(name=name, max_duration=to_duration(duration))
    return client.call(StartRecording, f'{node}/start', request)


def stop(client, node='data_logger'):
    from robot_id_msgs.srv import StopRecording

    return client.call(StopRecording, f'{node}/stop')


def stamps_of(path):
    from robot_id.data.io.bags.logging_thread import header_stamp_ns

    with Reader(path) as reader:
        return [header_stamp_ns(data) for _, _, data in reader.messages()]


def test_every_sample_is_recorded_as_it_was(client, folder):
    from rclpy.serialization import deserialize_message
    from ros_helpers.source import Source, joint_state
    from sensor_msgs.msg import JointState

    from robot_id.ros.trajectory_client import control_messages
    from robot_id_msgs.msg import RecordingStatus

    with Source(NAMESPACE) as source:
        answer = start(client, 'whole')
        assert (answer.error_code, answer.error_string, answer.bag) == (0, '', 'whole')
        source.start(count=1000).wait()
        answer = stop(client)
    status = answer.status
    assert (answer.error_code, status.recording, status.bag) == (0, False, 'whole')
    assert (status.samples, status.gaps, status.lost) == (1000, 0, 0)
    ours = ['joint_states', 'reference', 'effort_commands']
    states = [f'joint_trajectory_controller/{name}' for name in ('controller_state', 'state')]
    names = ours + (states if control_messages() else [])
    assert list(status.topics) == [f'/{NAMESPACE}/{name}' for name in names]
    assert list(status.messages) == [1000] + [0] * (len(names) - 1)
    assert (status.period.sec, status.period.nanosec) == (0, 2_000_000)
    assert (status.duration.sec, status.duration.nanosec) == (1, 998_000_000)
    assert status.size_bytes == (folder / 'whole/whole_0.mcap').stat().st_size
    with Reader(folder / 'whole') as reader:
        found = [deserialize_message(data, JointState) for _, _, data in reader.messages()]
    assert found == [joint_state(k) for k in range(1000)]
    # Those who come later hear how it ended.
    from robot_id.ros.qos import LATCHED

    heard = client.collect(RecordingStatus, 'data_logger/status', LATCHED)
    client.spin_until(lambda: heard, what='latched status')
    assert heard[-1] == status


def test_gaps_and_what_is_missing_in_them(client, folder):
    from ros_helpers.source import Source

    missing = {100, 101, 102, 250}
    with Source(NAMESPACE, change=lambda k, m: [] if k in missing else [m]) as source:
        start(client, 'gaps')
        source.start(count=400).wait()
        status = stop(client).status
    assert (status.samples, status.gaps, status.lost) == (396, 2, 4)


def test_best_effort_publisher_that_comes_late(client, folder):
    from ros_helpers.source import Source

    start(client, 'late')
    with Source(NAMESPACE, reliable=False) as source:
        source.start(count=300).wait()
        client.spin_for(0.3)
        status = stop(client).status
    # Some may be lost; what was lost is told.
    assert status.samples + status.lost >= 300 - (stamps_of(folder / 'late')[0] // 2_000_000) % 300
    assert status.samples > 200
    assert len(stamps_of(folder / 'late')) == status.samples


def test_duration_ends_it(client, folder):
    from ros_helpers.source import Source

    from robot_id.ros.qos import LATCHED
    from robot_id_msgs.msg import ErrorCode, RecordingStatus

    told = client.collect(RecordingStatus, 'data_logger/status', LATCHED)
    with Source(NAMESPACE) as source:
        start(client, 'short', 0.5)
        source.start(count=600).wait()
        client.spin_until(
            lambda: told and told[-1].bag == 'short' and not told[-1].recording, what='the end'
        )
        answer = stop(client)
    # From 0 to 0.5 s, both included.
    assert (answer.error_code, answer.status.samples) == (0, 251)
    assert (answer.status.duration.sec, answer.status.duration.nanosec) == (0, 500_000_000)
    assert stop(client).error_code == ErrorCode.INVALID_STATE


@pytest.mark.parametrize(
    'name', ['..', '../out', '/tmp/out', 'a/b', '.hidden', ' ', 'a b', 'x' * 200, 'a..b', 'ü']
)
def test_bad_names_are_refused(client, folder, name):
    from robot_id_msgs.msg import ErrorCode

    before = sorted(folder.parent.rglob('*'))
    answer = start(client, name)
    assert answer.error_code == ErrorCode.FORBIDDEN_PATH
    assert name in answer.error_string
    assert sorted(folder.parent.rglob('*')) == before


def test_one_at_a_time_and_nothing_overwritten(client, folder):
    from robot_id_msgs.msg import ErrorCode

    assert stop(client).error_code == ErrorCode.INVALID_STATE
    assert start(client, 'first').error_code == 0
    answer = start(client, 'second')
    assert answer.error_code == ErrorCode.BUSY
    assert "'first'" in answer.error_string
    assert stop(client).error_code == 0
    answer = start(client, 'first')
    assert (answer.error_code, 'exists' in answer.error_string) == (ErrorCode.FORBIDDEN_PATH, True)
    names = {start(client).bag}
    stop(client)
    names.add(start(client).bag)
    stop(client)
    assert sum((folder / name / 'metadata.yaml').is_file() for name in names) == 2
    assert start(client, 'never', -1.0).error_code == ErrorCode.INVALID_OPTION


def test_disk_that_is_nearly_full(client, folder):
    from robot_id_msgs.msg import ErrorCode

    client.set_parameters('data_logger', {'minimum_free_mb': 1e9})
    answer = start(client, 'full')
    client.set_parameters('data_logger', {'minimum_free_mb': 1.0})
    assert answer.error_code == ErrorCode.STORAGE_FAILED
    assert 'minimum_free_mb' in answer.error_string
    assert not (folder / 'full').exists()


def test_a_data_folder_that_is_removed_while_it_records(client, folder):
    from ros_helpers.source import Source

    from robot_id_msgs.msg import ErrorCode

    assert start(client, 'gone').error_code == 0
    with Source(NAMESPACE) as source:
        source.start(count=600)
        shutil.rmtree(folder)
        source.wait()
        answer = stop(client)
    assert answer.error_code == ErrorCode.STORAGE_FAILED
    assert 'gone' in answer.error_string
    answer = start(client, 'again')
    assert answer.error_code == ErrorCode.STORAGE_FAILED
    folder.mkdir()
    assert start(client, 'again').error_code == 0
    assert stop(client).error_code == 0


def test_states_that_are_not_finite_are_kept_and_told_by_the_reader(client, folder):
    from ros_helpers.source import Source

    from robot_id.data import load

    def spoil(k, message):
        if k == 150:
            message.position = [float('nan')]
        return [message]

    with Source(NAMESPACE, change=spoil) as source:
        start(client, 'nan')
        source.start(count=400).wait()
        assert stop(client).status.samples == 400
    dataset = load(folder / 'nan')
    assert all(np.isfinite(run.position).all() for run in dataset.runs)
    assert any('finite' in note or 'NaN' in note for note in dataset.notes)


def test_diagnostics(client):
    from diagnostic_msgs.msg import DiagnosticArray

    heard = client.collect(DiagnosticArray, '/diagnostics')
    name = f'{NAMESPACE}/data_logger: recording'
    client.spin_until(
        lambda: [s for array in heard for s in array.status if s.name == name], what=name
    )


@pytest.mark.parametrize('end', ['kill', 'interrupt', 'full disk'])
def test_recording_survives_the_end_of_the_logger(tmp_path, end):
    from ros_helpers.source import Source
    from running.client import Client
    from running.node_process import NodeProcess, executable

    from robot_id.data import load
    from robot_id_msgs.msg import ErrorCode

    command = executable('data_logger')
    if end == 'full disk':
        # Files of more than 200 kB, some 2000 messages, cannot be written: the disk is full in the
        # middle, after several flushes also on a machine that stalls.
        command = ['bash', '-c', f'ulimit -f 200; exec {shlex.quote(command[0])} "$@"', 'logger']
    settings = {'data_directory': str(tmp_path), 'minimum_free_mb': 1.0}
    with (
        NodeProcess(command, parameters=settings, namespace='other') as node,
        Client(namespace='other') as client,
        Source('other') as source,
    ):
        start(client, 'cut')
        source.start()
        enough = 4000 if end == 'full disk' else 1250
        client.spin_until(lambda: source.sent > enough, 120.0, 'messages')
        if end == 'kill':
            sent = source.sent
            node.kill()
        elif end == 'interrupt':
            assert node.stop() == 0
        else:
            answer = stop(client)
            assert answer.error_code == ErrorCode.STORAGE_FAILED
            assert 'File too large' in answer.error_string
            assert node.stop() == 0
    dataset = load(tmp_path / 'cut')
    with Reader(tmp_path / 'cut') as reader:
        assert reader.message_count == len(dataset)
    np.testing.assert_array_equal(dataset.runs[0].torque[:, 0], np.arange(len(dataset)))
    if end == 'kill':
        assert sent - len(dataset) <= 500, 'more than a second was lost'
        assert any('not closed' in note for note in dataset.notes)
    elif end == 'interrupt':
        assert not any('not closed' in note for note in dataset.notes)
        assert len(dataset) > 1000
    else:
        assert 100 < len(dataset) < 3000


def test_wrong_parameters_end_the_node_with_one_line(tmp_path):
    from running.node_process import NodeProcess

    file = tmp_path / 'file'
    file.write_text('')
    with NodeProcess('data_logger', parameters={'data_directory': str(file / 'x')}) as node:
        assert node.wait(120) == 2
        assert 'cannot be made' in node.log
        assert 'Traceback' not in node.log


def test_time(client):
    """The clock of the wall: what is recorded now was received now."""
    from ros_helpers.source import Source

    with Source(NAMESPACE) as source:
        start(client, 'now')
        source.start(count=20).wait()
        status = stop(client).status
    assert abs(time.time() - status.header.stamp.sec) < 5
