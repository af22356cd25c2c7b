"""rosbag2 recordings: by name, in bulk and one by one, with and without damage."""

import numpy as np
import pytest
from errors import refused
from library_bag import NAMES, Bag, stamps, value
from rosbags.rosbag2 import StoragePlugin

from robot_id import data
from robot_id.exceptions import DataError


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_joints_are_matched_by_name(tmp_path, storage):
    with Bag(tmp_path / 'bag', storage) as bag:
        for ns in stamps():
            q, tau = value(ns)
            bag.state(int(ns), NAMES, q, tau)
    expected = np.array([value(ns)[0] for ns in stamps()])
    file = next(p for p in (tmp_path / 'bag').iterdir() if p.suffix in ('.mcap', '.db3'))
    for path in (tmp_path / 'bag', file):
        dataset = data.load(path)
        assert dataset.joint_names == NAMES
        assert np.array_equal(dataset.runs[0].position, expected)
        assert dataset.rate == pytest.approx(100.0)
        assert dataset.runs[0].velocity is None
        swapped = data.load(path, 'joint_states', joint_names=('b', 'a'))
        assert np.array_equal(swapped.runs[0].position, expected[:, ::-1])
        only = data.load(path, joint_names=('b',))
        assert np.array_equal(only.runs[0].position, expected[:, 1:])


def test_changing_order_frames_and_other_publishers(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for k, ns in enumerate(stamps()):
            q, tau = value(ns)
            if k % 3 == 0:
                bag.state(int(ns), NAMES[::-1], q[::-1], tau[::-1], frame='x')
            else:
                bag.state(int(ns), NAMES, q, tau, frame=f'{k % 23:02d}')
            bag.state(int(ns) + 5, ('gripper',), [0.0], [0.0])
    dataset = data.load(tmp_path / 'bag', joint_names=NAMES)
    assert np.array_equal(dataset.runs[0].position, [value(ns)[0] for ns in stamps()])
    assert any('200 message(s) of other joints ignored' in note for note in dataset.notes)


def test_reference_and_commands(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for k, ns in enumerate(stamps()):
            q, tau = value(ns)
            bag.reference(int(ns), NAMES[::-1], [k, k + 1], log=int(ns) - 10)
            bag.state(int(ns), NAMES, q, tau)
            bag.command(int(ns) + 2000, [10 * k, -k])
    dataset = data.load(tmp_path / 'bag', joint_names=NAMES)
    run = dataset.runs[0]
    k = np.arange(200)
    assert np.array_equal(run.reference_position, np.stack([k + 1, k], axis=1))
    assert np.array_equal(run.reference_velocity, 2 * run.reference_position)
    assert run.reference_acceleration is None
    assert np.array_equal(run.control, np.stack([10 * k, -k], axis=1))
    nameless = data.load(tmp_path / 'bag')
    assert nameless.runs[0].control is None
    assert any('do not say which joints' in note for note in nameless.notes)


def test_a_slower_reference_is_interpolated_and_reported(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for k, ns in enumerate(stamps()):
            bag.state(int(ns), NAMES, *value(ns))
            if k % 4 == 0:
                bag.reference(int(ns), NAMES, [k, -k])
    dataset = data.load(tmp_path / 'bag')
    k = np.minimum(np.arange(200.0), 196)
    assert np.allclose(dataset.runs[0].reference_position, np.stack([k, -k], axis=1))
    assert any('interpolated at 147 of 200' in note for note in dataset.notes)
    assert any('held for 3 sample(s)' in note for note in dataset.notes)


def test_zero_stamps_use_the_receive_time(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps():
            bag.state(0, NAMES, *value(ns), log=int(ns))
    dataset = data.load(tmp_path / 'bag')
    assert dataset.rate == pytest.approx(100.0)
    assert any('receive times are used' in note for note in dataset.notes)


def test_namespaces_and_other_topic_names(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps():
            bag.state(int(ns), NAMES, *value(ns), topic='/left/joint_states')
    assert len(data.load(tmp_path / 'bag')) == 200
    with Bag(tmp_path / 'two') as bag:
        for ns in stamps():
            bag.state(int(ns), NAMES, *value(ns), topic='/left/joint_states')
            bag.state(int(ns), NAMES, *value(ns), topic='/right/joint_states')
    with refused(DataError, code='several_topics'):
        data.load(tmp_path / 'two')
    chosen = data.Mapping.model_validate({'topics': {'joint_states': '/right/joint_states'}})
    assert len(data.load(tmp_path / 'two', chosen)) == 200


def test_no_joint_states(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        bag.command(1, [1.0])
    with refused(DataError, code='no_topic'):
        data.load(tmp_path / 'bag')


@pytest.mark.parametrize(
    ('tau', 'q', 'names', 'message'),
    [
        ([1.0, 2.0], [], NAMES, "'position' is empty"),
        ([1.0], [1.0, 2.0], NAMES, "'effort' has 1 values for 2 joints"),
        ([1.0, 2.0], [1.0, 2.0], ('a', 'a'), 'a joint is named twice'),
    ],
)
def test_incomplete_joint_states(tmp_path, tau, q, names, message):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(20):
            bag.state(int(ns), names, q, tau)
    with pytest.raises(DataError, match=message):
        data.load(tmp_path / 'bag')


def test_a_missing_joint_is_named(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(20):
            bag.state(int(ns), NAMES, *value(ns))
    with refused(DataError, joint='c'):
        data.load(tmp_path / 'bag', joint_names=('a', 'c'))


def test_velocities_that_are_all_nan_are_left_out(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(50):
            bag.state(int(ns), NAMES, *value(ns), dq=[np.nan, np.nan])
    dataset = data.load(tmp_path / 'bag')
    assert dataset.runs[0].velocity is None
    assert any('velocities are all NaN' in note for note in dataset.notes)
