"""What a mapping says counts for bags too: joints, rows, seconds, units, factors."""

import numpy as np
import pytest
import yaml
from errors import refused

from robot_id import data
from robot_id.data import Dataset, Run
from robot_id.exceptions import DataError
from robot_id.robot import load_robot

N, RATE = 300, 100.0
RECORDED = ('axis_1', 'axis_2')


@pytest.fixture
def write(tmp_path):
    def make(**content):
        path = tmp_path / 'mapping.yaml'
        path.write_text(yaml.safe_dump({'topics': {}, **content}, sort_keys=False))
        return path

    return make


@pytest.fixture(scope='module')
def recorded():
    t = np.arange(N) / RATE
    q = np.column_stack([np.sin(2 * t), 0.5 * np.cos(3 * t)])
    dq = np.column_stack([2 * np.cos(2 * t), -1.5 * np.sin(3 * t)])
    tau = np.column_stack([t, 5 - t**2])
    return q, dq, tau


@pytest.fixture(scope='module')
def bag(tmp_path_factory, recorded):
    q, dq, tau = recorded
    path = tmp_path_factory.mktemp('bags') / 'run'
    run = Run(np.arange(N) / RATE, q, tau, velocity=dq)
    data.save(Dataset(RECORDED, (run,), 'here'), path)
    return path


def test_aliases_rename_and_the_robot_orders(bag, write, recorded):
    q, _, tau = recorded
    mapping = write(joints={'axis_1': 'shoulder', 'axis_2': 'elbow'})
    assert data.load(bag, mapping).joint_names == ('shoulder', 'elbow')
    swapped = data.load(bag, mapping, joint_names=('elbow', 'shoulder'))
    assert swapped.joint_names == ('elbow', 'shoulder')
    np.testing.assert_array_equal(swapped.runs[0].position, q[:, ::-1])
    np.testing.assert_array_equal(swapped.runs[0].torque, tau[:, ::-1])
    # Aliases of some joints leave the others their names.
    some = data.load(bag, write(joints={'axis_2': 'elbow'}), joint_names=('axis_1', 'elbow'))
    np.testing.assert_array_equal(some.runs[0].position, q)


def test_without_an_alias_the_message_shows_how(bag, write):
    with refused(DataError, joint='elbow'):
        data.load(bag, joint_names=('elbow',))
    with refused(DataError, code='joints_missing'):
        data.load(bag, write(joints=list(RECORDED)), joint_names=('elbow',))
    with refused(DataError, joint='axis_9'):
        data.load(bag, write(joints={'axis_9': 'elbow'}))


def test_rows_and_seconds_split_a_bag(bag, write, recorded):
    q = recorded[0]
    training = data.load(bag, write(rows=[1, 200])).runs
    (testing,) = data.load(bag, write(rows=[201, N])).runs
    assert [len(run) for run in training] == [200]
    joined = np.vstack([training[0].position, testing.position])
    np.testing.assert_array_equal(joined, q)
    named = data.load(bag, write(rows={'run': [[1, 50], [101, 150]], 'other': [1, 2]}))
    assert [len(run) for run in named.runs] == [50, 50]
    whole = data.load(bag, write(rows={'other': [1, 2]}))
    assert len(whole) == N
    assert any("'rows' belong to other" in note for note in whole.notes)
    (part,) = data.load(bag, write(seconds=[0.5, 1.0])).runs
    np.testing.assert_array_equal(part.position, q[50:101])
    with refused(DataError, code='rows_outside'):
        data.load(bag, write(rows=[290, 301]))
    with refused(DataError, code='seconds_outside'):
        data.load(bag, write(seconds=[7, 9]))


def test_units_factors_and_offsets(bag, write, recorded):
    q, dq, tau = recorded
    mapping = write(
        joints={'axis_2': 'elbow', 'axis_1': 'shoulder'},
        position={'unit': 'deg', 'scale': [-1, 1], 'offset': [0.5, 0]},
        velocity={'unit': 'deg/s', 'scale': [-1, 1]},
        torque={'unit': 'N.mm', 'scale': [2.0, -3.0]},
    )
    # Lists are in the order of the mapping's joints, whatever the robot's.
    for names in (None, ('shoulder', 'elbow')):
        loaded = data.load(bag, mapping, joint_names=names).select(('elbow', 'shoulder'))
        run = loaded.runs[0]
        swap = [1, 0]
        np.testing.assert_allclose(run.position, np.deg2rad(q[:, swap] * [-1, 1]) + [0.5, 0])
        np.testing.assert_allclose(run.velocity, np.deg2rad(dq[:, swap] * [-1, 1]))
        np.testing.assert_allclose(run.torque, 1e-3 * tau[:, swap] * [2, -3], atol=1e-15)


def test_motor_side_and_drive_gains(bag, write, recorded):
    q, _, tau = recorded
    R = np.array([[32.0, 0.0], [16.0, -45.0]])
    sides = {'position': {'motor_matrix': R.tolist()}, 'torque': {'motor_matrix': R.T.tolist()}}
    run = data.load(bag, write(**sides)).runs[0]
    np.testing.assert_allclose(run.position @ R.T, q, atol=1e-12)
    np.testing.assert_allclose(run.torque, tau @ R)
    robot = load_robot('tx40')
    names = dict(zip(RECORDED, robot.joint_names))
    gained = write(joints=names, torque={'unit': 'V', 'scale': 'drive_gain'})
    with refused(DataError, joint='joint_1'):
        data.load(bag, gained, joint_names=robot.joint_names[:2])


def test_a_late_torque_is_taken_at_its_time(bag, write, recorded):
    tau = recorded[2]
    run = data.load(bag, write(torque={'delay': 0.05})).runs[0]
    np.testing.assert_allclose(run.torque[:-5], tau[5:], atol=1e-9)


@pytest.mark.parametrize(
    ('content', 'key'),
    [
        ({'time': {'column': 1}}, 'time'),
        ({'position': {'columns': '1-2'}}, 'position.columns'),
        ({'torque': {'variable': 'tau'}}, 'torque.variable'),
        ({'torque': {'file': 'tau.csv'}}, 'torque.file'),
        ({'velocity': {'transposed': True}}, 'velocity.transposed'),
        ({'torque': {'scale': 'gtau'}}, 'torque.scale'),
        ({'temperature': {'unit': 'degC'}}, 'temperature'),
    ],
)
def test_keys_that_a_bag_cannot_use_are_refused_by_name(bag, write, content, key):
    with pytest.raises(DataError, match=f"key '{key}'") as caught:
        data.load(bag, write(**content))
    assert '\n' not in str(caught.value)


def test_a_channel_that_the_bag_lacks_is_said(bag, write):
    notes = data.load(bag, write(reference_position={'unit': 'deg'})).notes
    assert any("'reference_position' has no effect" in note for note in notes)


def test_a_mapping_of_columns_is_not_for_bags(bag, write):
    mapping = write(
        topics=None, rate_hz=100, position={'columns': '1-2'}, torque={'columns': '3-4'}
    )
    with refused(DataError, code='for_tables_only'):
        data.load(bag, mapping)
