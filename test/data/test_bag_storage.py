"""Bags that a library reads for us: each library gives the same; without one, it is named."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from running.typestore import typestore

from robot_id import data
from robot_id.data.io.bags import cdr
from robot_id.data.io.bags import storage as bag_storage
from robot_id.data.io.bags import types as bag_types

ROOT = Path(__file__).resolve().parents[2]
NAMES = ('a', 'b')
COUNT = 300
START = 1_700_000_000 * 10**9
# A type that is installed nowhere, as a recording of a foreign machine has it.
UNKNOWN = 'somebody_msgs/msg/ToolForce'
UNKNOWN_BYTES = bytes([0, 1, 0, 0]) + bytes(8)


@pytest.fixture(params=list(bag_storage.STORAGES))
def library(request, monkeypatch):
    """Leave one library alone to be chosen; skipped where it is not installed."""
    if find_spec(request.param) is None:
        pytest.skip(f'{request.param} is not installed: it comes with a sourced ROS 2')
    chosen = {request.param: bag_storage.STORAGES[request.param]}
    monkeypatch.setattr(bag_storage, 'STORAGES', chosen)
    return request.param


def position(k):
    return np.array([0.01 * k, -0.02 * k])


def write(path, storage, mode=None, first=0, extra=False):
    writer = Writer(path, version=9, storage_plugin=storage)
    if mode is not None:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    store = typestore()
    with writer:
        topics = [
            writer.add_connection(topic, kind, typestore=store)
            for topic, kind in (
                ('/arm/joint_states', bag_types.JOINT_STATE),
                ('/noise', bag_types.MULTI_ARRAY),
            )
        ]
        if extra:
            unknown = writer.add_connection(
                '/tool', UNKNOWN, msgdef='float64 force', rihs01='RIHS01_' + 64 * '0'
            )
        for k in range(first, first + COUNT):
            ns = START + k * 10**6
            state = bag_types.joint_state(
                NAMES, position(k), np.empty(0), position(k), stamp_ns=ns
            )
            writer.write(topics[0], ns, state)
            writer.write(topics[1], ns, bag_types.multi_array(('x',), np.ones(1)))
            if extra:
                writer.write(unknown, ns, UNKNOWN_BYTES)


KINDS = [
    (StoragePlugin.SQLITE3, None),
    (StoragePlugin.SQLITE3, CompressionMode.FILE),
    (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    (StoragePlugin.MCAP, CompressionMode.FILE),
    (StoragePlugin.MCAP, CompressionMode.MESSAGE),
]


@pytest.mark.parametrize(('storage', 'mode'), KINDS, ids=lambda x: getattr(x, 'name', str(x)))
def test_each_storage_gives_what_was_written(tmp_path, capfd, library, storage, mode):
    write(tmp_path / 'bag', storage, mode)
    run = data.load(tmp_path / 'bag').runs[0]
    assert capfd.readouterr() == ('', '')
    np.testing.assert_array_equal(run.position, [position(k) for k in range(COUNT)])
    np.testing.assert_array_equal(run.torque, run.position)
    np.testing.assert_allclose(run.time, 1e-3 * np.arange(COUNT), atol=1e-9)


def test_topics_counts_and_the_filter(tmp_path, library):
    write(tmp_path / 'bag', StoragePlugin.SQLITE3)
    storage = bag_storage.open_storage(tmp_path / 'bag')
    assert storage.topics == {
        '/arm/joint_states': bag_types.JOINT_STATE,
        '/noise': bag_types.MULTI_ARRAY,
    }
    assert storage.counts == {'/arm/joint_states': COUNT, '/noise': COUNT}
    found = list(storage.messages({'/noise', '/none'}))
    storage.close()
    assert {topic for topic, *_ in found} == {'/noise'}
    assert [received for _, received, _ in found] == [START + k * 10**6 for k in range(COUNT)]


def join(first, second):
    """Make the second bag the second file of the first one, as a recorder does that splits."""
    about = [yaml.safe_load((bag / 'metadata.yaml').read_text()) for bag in (first, second)]
    one, two = (each['rosbag2_bagfile_information'] for each in about)
    (name,) = two['relative_file_paths']
    moved = name.replace(second.name, f'{first.name}_1')
    (second / name).rename(first / moved)
    one['relative_file_paths'].append(moved)
    one['files'].append({**two['files'][0], 'path': moved})
    one['message_count'] += two['message_count']
    one['duration']['nanoseconds'] += two['duration']['nanoseconds']
    for ours, theirs in zip(
        one['topics_with_message_count'], two['topics_with_message_count'], strict=True
    ):
        ours['message_count'] += theirs['message_count']
    (first / 'metadata.yaml').write_text(yaml.safe_dump(about[0]))


@pytest.mark.parametrize(('storage', 'mode'), KINDS, ids=lambda x: getattr(x, 'name', str(x)))
def test_a_split_recording_is_one(tmp_path, library, storage, mode):
    write(tmp_path / 'bag', storage, mode)
    write(tmp_path / 'more', storage, mode, first=COUNT)
    join(tmp_path / 'bag', tmp_path / 'more')
    found = data.load(tmp_path / 'bag')
    np.testing.assert_array_equal(found.runs[0].position, [position(k) for k in range(2 * COUNT)])
    assert not any('missing' in note for note in found.notes), found.notes


@pytest.mark.parametrize(('storage', 'mode'), KINDS, ids=lambda x: getattr(x, 'name', str(x)))
def test_messages_of_a_type_that_is_not_installed_are_no_obstacle(
    tmp_path, library, storage, mode
):
    write(tmp_path / 'bag', storage, mode, extra=True)
    assert len(data.load(tmp_path / 'bag')) == COUNT


def test_a_storage_file_alone_is_a_recording(tmp_path, library):
    write(tmp_path / 'bag', StoragePlugin.SQLITE3)
    (file,) = (tmp_path / 'bag').glob('*.db3')
    run = data.load(file.rename(tmp_path / 'alone.db3')).runs[0]
    np.testing.assert_array_equal(run.position, [position(k) for k in range(COUNT)])


def test_definitions_and_hashes_are_those_of_ros():
    for kind in (bag_types.JOINT_STATE, bag_types.TRAJECTORY, bag_types.MULTI_ARRAY):
        ours = bag_types.channel('/x', kind)
        assert ours.definition == typestore().generate_msgdef(kind, ros_version=2)[0]
        assert ours.type_hash == typestore().hash_rihs01(kind)


@pytest.mark.parametrize('little', [True, False])
def test_bytes_are_those_of_an_independent_library_in_both_orders(little):
    types, store = typestore().types, typestore()
    rng = np.random.default_rng(0)
    q, dq, tau = rng.normal(size=(3, 3))
    names, ns = ['j1', 'longer name', 'ü'], 12 * 10**9 + 345
    time = types['builtin_interfaces/msg/Time'](12, 345)
    state = types[bag_types.JOINT_STATE](types['std_msgs/msg/Header'](time, ''), names, q, dq, tau)
    raw = bytes(store.serialize_cdr(state, bag_types.JOINT_STATE, little_endian=little))
    found, stamp, arrays = cdr.single(raw, cdr.joint_state_layout)
    assert (list(found), stamp) == (names, ns)
    np.testing.assert_array_equal(arrays, [q, dq, tau])
    if little:
        assert bag_types.joint_state(names, q, dq, tau, stamp_ns=ns) == raw
        point = types['trajectory_msgs/msg/JointTrajectoryPoint'](
            q, dq, np.empty(0), np.empty(0), types['builtin_interfaces/msg/Duration'](3, 4)
        )
        whole = types[bag_types.TRAJECTORY](
            types['std_msgs/msg/Header'](time, ''), names, [point, point]
        )
        ours = bag_types.trajectory(names, [[q, dq, np.empty(0)]] * 2, [3 * 10**9 + 4] * 2, ns)
        assert ours == bytes(store.serialize_cdr(whole, bag_types.TRAJECTORY))


NONE_OF_THEM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in ('rosbag2_py', 'rosbags', 'lz4', 'backports'):
            raise ModuleNotFoundError(f'no {name}', name=name)

sys.meta_path.insert(0, Absent())
from robot_id.cli.main import main
sys.argv[0] = 'robot-id'
main()
"""


def robot_id(folder, arguments):
    return subprocess.run(
        [sys.executable, '-c', NONE_OF_THEM, *arguments.split()],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_without_the_extra_our_own_bags_work_and_others_name_it(tmp_path):
    done = robot_id(tmp_path, 'simulate --robot emps --seconds 2 --out own')
    assert done.returncode == 0, done.stderr
    done = robot_id(tmp_path, 'check --robot emps --data own')
    assert 'pip install' not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    write(tmp_path / 'other', StoragePlugin.SQLITE3)
    done = robot_id(tmp_path, 'check --robot emps --data other')
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith('robot-id: this needs rosbags: python -m pip install rosbags')
