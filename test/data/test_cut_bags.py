"""Recordings that ended early or were damaged: what is whole is read, and a note says so."""

import shutil

import numpy as np
import pytest
from errors import refused
from library_bag import NAMES, Bag, stamps, value
from rosbags.rosbag2 import StoragePlugin
from running.typestore import typestore

from robot_id import data
from robot_id.exceptions import DataError


def record(path, storage=StoragePlugin.MCAP, N=20_000):
    with Bag(path, storage) as bag:
        for ns in 10**15 + 10**6 * np.arange(N):
            bag.state(int(ns), NAMES, *value(ns))
    return next(p for p in path.iterdir() if p.suffix in ('.mcap', '.db3'))


@pytest.fixture(scope='module')
def long_bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp('long') / 'bag'
    record(folder)
    return folder


@pytest.fixture
def long_mcap(long_bag):
    return (long_bag / 'bag.mcap').read_bytes()


def recovered(path, samples_at_most):
    """Check that a cut recording gives its first messages and says so."""
    dataset = data.load(path)
    N = len(dataset)
    assert 0.1 * samples_at_most < N <= samples_at_most
    assert np.allclose(dataset.runs[0].torque[:, 0], np.arange(N) * 1e-3, atol=1e-9)
    assert any(f'{N} messages were recovered' in note for note in dataset.notes)
    return dataset.notes


@pytest.mark.parametrize('part', [0.5, 0.95])
def test_an_mcap_without_its_end_is_recovered(tmp_path, long_mcap, part):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(long_mcap[: int(part * len(long_mcap))])
    notes = recovered(path, 20_000)
    assert any('the end is missing' in note for note in notes)


def test_an_mcap_without_its_footer_gives_everything(tmp_path, long_mcap):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(long_mcap[:-20])
    assert len(data.load(path)) == 20_000


def test_a_damaged_chunk_ends_the_recovery(tmp_path, long_mcap):
    path = tmp_path / 'cut.mcap'
    middle = len(long_mcap) // 2
    path.write_bytes(long_mcap[:middle] + bytes(64) + long_mcap[middle + 64 :])
    recovered(path, 20_000)


def test_a_directory_without_metadata(tmp_path, long_mcap):
    folder = tmp_path / 'bag'
    folder.mkdir()
    (folder / 'bag_0.mcap').write_bytes(long_mcap[: len(long_mcap) // 2])
    notes = recovered(folder, 20_000)
    assert any('no metadata.yaml' in note for note in notes)


def test_a_directory_whose_storage_is_cut(tmp_path, long_bag):
    folder = tmp_path / 'bag'
    shutil.copytree(long_bag, folder)
    file = folder / 'bag.mcap'
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    notes = recovered(folder, 20_000)
    assert any('read one by one' in note for note in notes)


def test_an_mcap_cut_at_its_head_is_refused(tmp_path, long_mcap):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(long_mcap[:200])
    with refused(DataError, code='damaged'):
        data.load(path)


@pytest.mark.parametrize('keep', [0.2, 0.5, 0.9])
def test_a_cut_db3_is_refused_in_one_line(tmp_path, keep):
    file = record(tmp_path / 'bag', StoragePlugin.SQLITE3, N=3000)
    file.write_bytes(file.read_bytes()[: int(keep * file.stat().st_size)])
    with refused(DataError, code='unreadable') as caught:
        data.load(file)
    assert '\n' not in str(caught.value)


def test_an_empty_recording(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        connection = bag.writer.add_connection(
            '/joint_states', 'sensor_msgs/msg/JointState', typestore=typestore()
        )
        assert connection.topic == '/joint_states'
    with refused(DataError, code='no_messages'):
        data.load(tmp_path / 'bag')
    (tmp_path / 'nothing').mkdir()
    with refused(DataError, code='not_a_bag'):
        data.load(tmp_path / 'nothing')


def test_rubbish_bytes_in_a_topic_are_left_out_and_named(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(20):
            bag.state(int(ns), NAMES, *value(ns))
        bag.writer.write(bag.topics['/joint_states'], 10**16, b'\x00\x01\x00\x00\x01\x02')
    found = data.load(tmp_path / 'bag')
    assert len(found) == 20
    assert any('1 message(s) cannot be read' in n and 'message 21' in n for n in found.notes)
