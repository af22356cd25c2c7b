"""A recording can be opened after every write, and after a write that was torn apart."""

from __future__ import annotations

import os
import resource
import shutil

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from running.typestore import typestore

from robot_id.data import Mapping, load
from robot_id.data.io.bags.growing import GrowingBag
from robot_id.data.io.bags.logging_thread import BagThread, Limits, StampStatistics
from robot_id.data.io.bags.mcap_scan import McapScan
from robot_id.data.io.bags.types import channel
from robot_id.data.mapping import Topics

STATES, COMMANDS = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Float64MultiArray'
START = 1_700_000_000_000_000_000
CHUNK = 50


def joint_state(k, step_ns=1_000_000):
    types, stamp = typestore().types, START + k * step_ns
    message = types[STATES](
        header=types['std_msgs/msg/Header'](
            stamp=types['builtin_interfaces/msg/Time'](sec=stamp // 10**9, nanosec=stamp % 10**9),
            frame_id='',
        ),
        name=['left', 'right'],
        position=np.array([float(k), -float(k)]),
        velocity=np.empty(0),
        effort=np.array([0.5, 0.25 * k]),
    )
    return bytes(typestore().serialize_cdr(message, STATES))


MESSAGES = [joint_state(k) for k in range(10 * CHUNK)]


def begin(path):
    return GrowingBag(path, [channel('/joint_states', STATES), channel('/effort', COMMANDS)])


def write(recording, chunks):
    for number in chunks:
        rows = range(number * CHUNK, (number + 1) * CHUNK)
        recording.write([(0, START + k * 1_000_000 + 77, MESSAGES[k]) for k in rows])


@pytest.mark.parametrize('chunks', [1, 4])
def test_open_recording_is_whole_for_every_reader(tmp_path, chunks):
    recording = begin(tmp_path / 'run')
    write(recording, range(chunks))
    copy = shutil.copytree(tmp_path / 'run', tmp_path / 'copy')
    with Reader(copy) as reader:
        found = [(c.topic, stamp, data) for c, stamp, data in reader.messages()]
        assert reader.message_count == CHUNK * chunks
    assert [data for _, _, data in found] == MESSAGES[: CHUNK * chunks]
    assert found[0][:2] == ('/joint_states', START + 77)
    dataset = load(copy)
    np.testing.assert_array_equal(dataset.runs[0].position[:, 0], np.arange(CHUNK * chunks))
    assert any('not closed' in note for note in dataset.notes)
    recording.close({'samples': 3})
    assert load(tmp_path / 'run').notes == ()
    with Reader(tmp_path / 'run') as reader:
        assert reader.storage.metadata.custom['samples'] == '3'


def test_index_leads_to_every_message(tmp_path):
    recording = begin(tmp_path / 'run')
    write(recording, range(6))
    recording.close()
    with Reader(tmp_path / 'run') as reader:
        early, late = START + 120 * 1_000_000, START + 180 * 1_000_000
        some = [data for _, _, data in reader.messages(start=early, stop=late)]
    assert some == MESSAGES[120:180]


@settings(max_examples=25)
@given(share=st.floats(0.0, 1.0))
def test_torn_write_costs_its_own_chunk_only(tmp_path_factory, share):
    folder = tmp_path_factory.mktemp('torn')
    recording = begin(folder / 'run')
    write(recording, range(3))
    file = folder / 'run/run_0.mcap'
    before = file.read_bytes()
    write(recording, [3])
    after = file.read_bytes()
    same = next(i for i, (a, b) in enumerate(zip(before, after)) if a != b)
    cut = same + int(share * (len(after) - same))
    file.write_bytes(after[:cut] + before[cut:])
    positions = load(folder / 'run').runs[0].position[:, 0]
    assert 3 * CHUNK <= len(positions) <= 4 * CHUNK
    np.testing.assert_array_equal(positions, np.arange(len(positions)))


def test_what_is_written_grows_with_the_data_and_not_with_its_square(tmp_path, monkeypatch):
    written, real = [], os.pwrite

    def count(file, data, at):
        written.append(len(data))
        return real(file, data, at)

    monkeypatch.setattr(os, 'pwrite', count)
    recording = begin(tmp_path / 'run')
    for k in range(400):
        recording.write([(0, START + k * 1_000_000, MESSAGES[k])])
    recording.close()
    size = (tmp_path / 'run/run_0.mcap').stat().st_size
    # All but the 50 bytes of an end at every flush are written once.
    assert sum(written) == pytest.approx(size + 50 * 401, abs=100)


@settings(max_examples=30)
@given(place=st.floats(0.0, 1.0), bit=st.integers(0, 7))
def test_a_changed_bit_in_a_message_is_noticed(tmp_path_factory, place, bit):
    folder = tmp_path_factory.mktemp('bit')
    recording = begin(folder / 'run')
    write(recording, range(3))
    recording.close()
    file = folder / 'run/run_0.mcap'
    data = bytearray(file.read_bytes())
    first = data.index(MESSAGES[CHUNK])
    at = first + int(place * (data.index(MESSAGES[2 * CHUNK - 1]) - first))
    data[at] ^= 1 << bit
    file.write_bytes(data)
    dataset = load(folder / 'run')
    assert len(dataset) == CHUNK
    assert any('damaged' in note for note in dataset.notes)


def test_disk_that_takes_no_more_leaves_what_was_written(tmp_path):
    recording = begin(tmp_path / 'run')
    write(recording, range(3))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (recording.size + 500, limits[1]))
    try:
        with pytest.raises(OSError, match='File too large'):
            write(recording, [3])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    recording.close()
    assert recording.counts == [3 * CHUNK, 0]
    assert len(load(tmp_path / 'run')) == 3 * CHUNK
    scan = McapScan(tmp_path / 'run/run_0.mcap')
    assert sum(1 for _ in scan.messages()) == 3 * CHUNK
    assert scan.complete


def test_metadata_have_the_layout_of_another_writer(tmp_path):
    recording = begin(tmp_path / 'ours')
    write(recording, [0])
    recording.close()
    with Writer(tmp_path / 'theirs', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection('/joint_states', STATES, typestore=typestore())
        for k in range(CHUNK):
            writer.write(connection, START + k * 1_000_000 + 77, MESSAGES[k])
    ours, theirs = (
        yaml.safe_load((tmp_path / name / 'metadata.yaml').read_text())[
            'rosbag2_bagfile_information'
        ]
        for name in ('ours', 'theirs')
    )
    assert ours.keys() == theirs.keys()
    same = ('version', 'storage_identifier', 'duration', 'starting_time', 'message_count')
    assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
    assert ours['topics_with_message_count'][0] == theirs['topics_with_message_count'][0]
    assert ours['files'][0].keys() == theirs['files'][0].keys()


def test_recording_without_messages(tmp_path):
    begin(tmp_path / 'run').close()
    with Reader(tmp_path / 'run') as reader:
        assert reader.message_count == 0
        assert len(list(reader.connections)) == 2


def test_existing_directory_is_left_alone(tmp_path):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run/mine').write_text('precious')
    with pytest.raises(FileExistsError):
        begin(tmp_path / 'run')
    assert (tmp_path / 'run/mine').read_text() == 'precious'


@settings(max_examples=50)
@given(
    count=st.integers(40, 400),
    removed=st.sets(st.integers(1, 398), max_size=12),
    parts=st.integers(1, 7),
    jitter=st.integers(0, 200_000),
)
def test_statistics_count_what_is_missing(count, removed, parts, jitter):
    inside = {k for k in removed if k < count - 1}
    rng = np.random.default_rng(count)
    stamps = np.arange(count) * 1_000_000 + rng.integers(0, jitter + 1, count)
    kept = np.delete(stamps, sorted(inside))
    found = StampStatistics()
    for part in np.array_split(kept, parts):
        found.add(part.tolist())
    found.finish()
    runs = sum(1 for k in inside if k - 1 not in inside)
    assert (found.samples, found.missing, found.gaps) == (len(kept), len(inside), runs)
    assert found.period_s == pytest.approx(1e-3, rel=0.1)


def test_statistics_tell_repeated_and_late_stamps_apart():
    found = StampStatistics()
    stamps = [k * 1000 for k in range(20)]
    found.add([*stamps, stamps[-1], stamps[-3], stamps[-1] + 1000])
    assert (found.duplicates, found.backward) == (1, 1)


def test_a_single_stamp_of_another_time_is_no_loss():
    found = StampStatistics()
    stamps = [START + k * 1_000_000 for k in range(60)]
    stamps[20], stamps[40] = -1_000_000_000, START + 10**18
    found.add(stamps)
    found.finish()
    assert (found.samples, found.gaps, found.missing, found.backward) == (60, 0, 0, 2)


def test_bytes_that_are_no_message_do_not_end_a_recording(tmp_path):
    bag = BagThread(tmp_path / 'run', [channel('/joint_states', STATES)], Limits())
    for k, content in enumerate([*MESSAGES[:100], b'', b'\0\1\0\0']):
        bag.take(0, START + k * 1_000_000, content)
    bag.close()
    assert not bag.failed
    found = load(tmp_path / 'run')
    assert len(found) == 100
    assert any('2 message(s) cannot be read' in note for note in found.notes)


def test_state_that_was_sent_again_has_the_command_that_answered_it(tmp_path):
    types = typestore().types
    recording = begin(tmp_path / 'run')
    messages = []
    for k in range(40):
        # The state 20 is sent twice: its command comes late.
        for copy in range(2 if k == 20 else 1):
            messages.append((0, START + k * 1_000_000 + copy * 400_000, MESSAGES[k]))
        dimension = types['std_msgs/msg/MultiArrayDimension'](label='left,right', size=2, stride=2)
        command = types[COMMANDS](
            layout=types['std_msgs/msg/MultiArrayLayout'](dim=[dimension], data_offset=0),
            data=np.array([k, -k], float),
        )
        data = bytes(typestore().serialize_cdr(command, COMMANDS))
        messages.append((1, START + k * 1_000_000 + 500_000, data))
    recording.write(messages)
    recording.close()
    mapping = Mapping(topics=Topics(effort_commands='effort'))
    dataset = load(tmp_path / 'run', mapping, joint_names=('left', 'right'))
    np.testing.assert_array_equal(dataset.runs[0].control[:, 0], np.arange(40.0))
    assert any('repeated' in note for note in dataset.notes)
