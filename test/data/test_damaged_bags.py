"""Recordings that were cut or changed: all up to the damage with a line about it, or refused."""

import random
import sqlite3
import struct

import numpy as np
import pytest
from errors import refused
from rosbags.rosbag2 import StoragePlugin, Writer
from running.typestore import typestore

from robot_id import data
from robot_id.data import Dataset, Run
from robot_id.data.io.bags.mcap_scan import McapScan
from robot_id.exceptions import DataError

N = 500


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """A bag of our own writer, its file's bytes and its data."""
    t = np.arange(N) * 1e-3
    q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    run = Run(time=t, position=q, torque=5 * q, velocity=q, reference_position=q)
    folder = tmp_path_factory.mktemp('recorded') / 'bag'
    data.save(Dataset(('a', 'b'), (run,)), folder)
    file = next(folder.glob('*.mcap'))
    return run, file.read_bytes()


def load(tmp_path, raw):
    file = tmp_path / 'x.mcap'
    file.write_bytes(raw)
    return data.load(file)


@pytest.mark.parametrize('share', [0.3, 0.6, 0.9])
def test_cut_file_gives_what_is_there_and_says_so(tmp_path, recorded, share):
    run, raw = recorded
    dataset = load(tmp_path, raw[: int(share * len(raw))])
    found = dataset.runs[0]
    assert len(found) > (share - 0.2) * N
    np.testing.assert_array_equal(found.torque, run.torque[: len(found)])
    assert any('were recovered' in note for note in dataset.notes)


def test_changed_bytes_are_never_read_silently(tmp_path, recorded):
    run, raw = recorded
    draw = random.Random(1)
    refused = 0
    for _ in range(150):
        changed = bytearray(raw)
        for _ in range(draw.choice((1, 1, 8))):
            changed[draw.randrange(8, len(raw))] ^= 1 << draw.randrange(8)
        try:
            dataset = load(tmp_path, bytes(changed))
        except DataError:
            refused += 1
            continue
        found = np.concatenate([each.torque for each in dataset.runs])
        if len(found) == N:
            np.testing.assert_array_equal(found, run.torque)
        else:
            assert dataset.notes
    assert refused > 50


@pytest.mark.parametrize('size', [2**63, 2**40, 2**31])
def test_damaged_record_lengths(tmp_path, recorded, size):
    _, raw = recorded
    with refused(DataError, code='damaged'):
        load(tmp_path, raw[:9] + struct.pack('<Q', size) + raw[17:])


def test_receive_time_after_the_last_possible_one(tmp_path, recorded):
    _, raw = recorded
    file = tmp_path / 'x.mcap'
    file.write_bytes(raw)
    stamp = next(received for _, received, _ in list(McapScan(file).messages())[N // 2 :])
    late = raw.replace(struct.pack('<QQ', stamp, stamp), struct.pack('<QQ', 2**63 + 5, stamp))
    with pytest.raises(DataError):
        load(tmp_path, late)


def test_messages_without_data_in_a_database(tmp_path):
    types = typestore().types
    folder = tmp_path / 'bag'
    with Writer(folder, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        kind = 'sensor_msgs/msg/JointState'
        topic = writer.add_connection('/joint_states', kind, typestore=typestore())
        for k in range(50):
            stamp = types['builtin_interfaces/msg/Time'](1, k * 10**6)
            header = types['std_msgs/msg/Header'](stamp, '')
            values = np.array([float(k)])
            message = types[kind](header, ['a'], values, values, values)
            writer.write(topic, 10**9 + k * 10**6, typestore().serialize_cdr(message, kind))
    file = next(folder.glob('*.db3'))
    with sqlite3.connect(file) as database:
        database.executescript(
            'ALTER TABLE messages RENAME TO old;'
            'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER,'
            ' data BLOB);'
            'INSERT INTO messages SELECT * FROM old;'
            'UPDATE messages SET data = NULL WHERE id = 50;'
        )
    dataset = data.load(file)
    assert len(dataset) == 49
    assert any('without data' in note for note in dataset.notes)
