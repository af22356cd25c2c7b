"""The mapping file: units, matrices, rows, and one clear line for each mistake."""

import numpy as np
import pytest
from errors import refused
from mapped_files import samples, table

from robot_id import data
from robot_id.data import load_mapping, shipped_mappings
from robot_id.exceptions import DataError
from robot_id.robot import load_robot


def test_shipped_mappings_are_valid():
    names = shipped_mappings()
    assert {'emps_benchmark', 'tx40_csv', 'ur10e_csv', 'joint_states'} <= set(names)
    for name in names:
        assert load_mapping(name).description


def test_units_and_columns_by_number(tmp_path, write):
    q, tau = samples()
    path = table(tmp_path, np.hstack([q, tau]))
    mapping = write(
        rate_hz=100,
        position={'columns': '1-2', 'unit': 'deg'},
        torque={'columns': [4, 3], 'unit': 'N.mm', 'scale': [2.0, -1.0]},
    )
    run = data.load(path, mapping).runs[0]
    assert np.allclose(run.position, np.deg2rad(q))
    assert np.allclose(run.torque, 1e-3 * tau[:, [1, 0]] * [2.0, -1.0])
    assert run.rate == pytest.approx(100.0)


def test_names_in_the_header_and_time_unit(tmp_path, write):
    q, tau = samples(1)
    t = np.arange(50) * 2.0
    path = table(tmp_path, np.hstack([tau, t[:, None], q]), header='cur,ms,enc')
    mapping = write(
        joints=['axis'],
        time={'column': 'ms', 'unit': 'ms'},
        position={'columns': 'enc', 'unit': 'mm'},
        torque={'columns': 'cur', 'unit': 'A', 'scale': 35.0},
    )
    dataset = data.load(path, mapping)
    assert dataset.joint_names == ('axis',)
    assert dataset.rate == pytest.approx(500.0)
    assert np.allclose(dataset.runs[0].position, 1e-3 * q)
    assert np.allclose(dataset.runs[0].torque, 35 * tau)


def test_motor_matrices_keep_the_power(tmp_path, write):
    """Motor positions = R q and joint torques = R^T motor torques: tau' dq is the same power."""
    q, motor_tau = samples()
    R = np.array([[32.0, 0.0], [32.0, -45.0]])
    path = table(tmp_path, np.hstack([q @ R.T, motor_tau]))
    mapping = write(
        rate_hz=10,
        position={'columns': '1-2', 'motor_matrix': R.tolist(), 'offset': [0.5, 0.0]},
        torque={'columns': '3-4', 'motor_matrix': R.T.tolist()},
    )
    run = data.load(path, mapping).runs[0]
    assert np.allclose(run.position, q + [0.5, 0.0])
    power = np.sum(run.torque * q, axis=1)
    assert np.allclose(power, np.sum(motor_tau * (q @ R.T), axis=1))


def test_rows_count_from_one_and_include_both_ends(tmp_path, write):
    path = table(tmp_path, np.arange(100.0)[:, None] * [1, 1], header='a,b')
    mapping = {'rate_hz': 1, 'position': {'columns': 'a'}, 'torque': {'columns': 'b'}}
    run = data.load(path, write(rows=[11, 30], **mapping)).runs[0]
    assert run.position[[0, -1], 0].tolist() == [10.0, 29.0]
    two = data.load(path, write(rows=[[1, 20], [51, 100]], **mapping))
    assert [len(run) for run in two.runs] == [20, 50]
    named = write(rows={'log.csv': [5, 24], 'other.csv': [1, 2]}, **mapping)
    assert len(data.load(path, named)) == 20
    with refused(DataError, code='rows_outside'):
        data.load(path, write(rows=[90, 101], **mapping))


def test_two_files_in_a_directory(tmp_path, write):
    q, tau = samples()
    table(tmp_path, q, 'q.csv.gz', header='x,y')
    table(tmp_path, tau, 'tau.csv')
    mapping = write(
        rate_hz=100,
        position={'file': 'q.csv.gz', 'columns': ['x', 'y']},
        torque={'file': 'tau.csv', 'columns': '1-2'},
    )
    for path in (tmp_path, tmp_path / 'tau.csv'):
        assert np.allclose(data.load(path, mapping).runs[0].position, q)
    table(tmp_path, tau[:-1], 'tau.csv')
    with refused(DataError, code='unequal_lengths'):
        data.load(tmp_path, mapping)
    (tmp_path / 'tau.csv').unlink()
    with refused(DataError, code='no_file'):
        data.load(tmp_path, mapping)


def test_names_of_the_robot_serve_columns_without_names(tmp_path, write):
    path = table(tmp_path, np.hstack(samples()))
    mapping = write(rate_hz=100, position={'columns': '1-2'}, torque={'columns': '3-4'})
    assert data.load(path, mapping, joint_names=['a', 'b']).joint_names == ('a', 'b')
    assert data.load(path, mapping).joint_names == ('joint_1', 'joint_2')
    with refused(DataError, code='joint_count'):
        data.load(path, mapping, joint_names=['a', 'b', 'c'])


def test_drive_gains_of_the_robot_file_make_torques_of_control_signals(tmp_path, write):
    q, signal = samples(6)
    path = table(tmp_path, np.hstack([q, signal]))
    robot = load_robot('tx40')
    torque = {'columns': '7-12', 'unit': 'mV', 'scale': 'drive_gain'}
    names = list(robot.joint_names[::-1])
    mapping = write(rate_hz=100, joints=names, position={'columns': '1-6'}, torque=torque)
    run = data.load(path, mapping, robot).runs[0]
    # The columns are in the order of the mapping, the data set in that of the robot.
    expected = 1e-3 * signal[:, ::-1] * robot.drives.gain
    np.testing.assert_allclose(run.torque, expected, rtol=1e-12)
    np.testing.assert_allclose(run.position, q[:, ::-1], rtol=1e-12)
    with refused(DataError, joint='joint_6'):
        data.load(path, mapping, joint_names=robot.joint_names)


def test_a_drive_gain_that_nobody_gave_is_not_one(tmp_path, write):
    path = table(tmp_path, np.hstack(samples()))
    torque = {'columns': '3-4', 'unit': 'A', 'scale': 'drive_gain'}
    mapping = write(rate_hz=100, position={'columns': '1-2'}, torque=torque)
    with refused(DataError, joint='shoulder') as caught:
        data.load(path, mapping, load_robot('scara'))
    assert '\n' not in str(caught.value)


COLUMNS = {'position': {'columns': '1-2'}, 'torque': {'columns': '3-4'}}


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'tourque': {}}, "unknown key 'tourque', did you mean 'torque'"),
        ({'position': {'colums': 1}}, "'position.colums', did you mean 'columns'"),
        ({'time': {'colum': 1}}, "'time.colum', did you mean 'column'"),
        ({'topics': {'refrence': 'r'}}, "'topics.refrence', did you mean 'reference'"),
        ({'rate_hz': -5}, 'rate_hz'),
        ({'position': {'columns': '2-1'}}, "'2-1' counts backwards"),
        ({'rate_hz': None}, "neither 'time' nor 'rate_hz'"),
        ({'position': None}, "no key 'position'"),
        ({'position': {'columns': '1-2', 'unit': 'degrees'}}, "no unit 'degrees', did you mean"),
        ({'torque': {'columns': '3-4', 'unit': 'A'}}, "needs the drive gain as 'scale'"),
        (
            {
                'torque': {
                    'columns': '3-4',
                    'scale': 'drive_gain',
                    'motor_matrix': [[1, 0], [0, 1]],
                }
            },
            "without 'motor_matrix'",
        ),
        ({'position': {'columns': '1-2', 'scale': 'drive_gain'}}, "for 'torque' only"),
        ({'torque': {'columns': '3-4', 'offset': 1}}, "'offset' is for positions only"),
        ({'rows': [1, 2, 3]}, 'rows'),
        ({'torque': {'columns': [3, 3]}}, "torque: '3' stands for two joints of torque"),
        ({'torque': {'columns': '2-3'}}, "torque: '2' stands for position and torque"),
        ({'torque': {'columns': '3-4', 'delay': 5}}, 'torque.delay: must be .* 0.5, got 5'),
        ({'rows': 'all'}, "yaml: rows: must be a list, got 'all'"),
        ({'time': 't'}, "yaml: time: must be a table of keys, got 't'"),
        ({'rows': [1, 20], 'seconds': [0, 1]}, "both 'rows' and 'seconds'"),
        ({'joints': ['a', 'a']}, "joint 'a' is named twice"),
        ({'joints': {'x': 'a', 'y': 'a'}}, "joint 'a' is named twice"),
    ],
)
def test_mistakes_in_the_mapping(write, change, message):
    path = write(**{'rate_hz': 100, **COLUMNS, **change})
    with pytest.raises(DataError, match=message) as caught:
        load_mapping(path)
    assert '\n' not in str(caught.value)
    assert 'mapping.yaml' in str(caught.value)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'position': {'columns': [1, 9]}}, 'no column 9, it has 1 to 4'),
        ({'position': {'columns': ['q1', 'q2']}}, 'there is no header'),
        ({'position': {'variable': 'q'}}, "no variable 'q'"),
        ({'position': {}}, "neither 'columns' nor 'variable'"),
        ({'position': {'columns': '1-2', 'motor_matrix': [[1]]}}, '2 x 2 is needed'),
        ({'position': {'columns': '1-2', 'motor_matrix': [[1, 1], [1, 1]]}}, 'singular'),
        ({'position': {'columns': '1-2', 'scale': [1, 2, 3]}}, 'scale has 3 values for 2 joints'),
        ({'torque': {'columns': 3}}, 'torque has 1 columns'),
        ({'torque': {'columns': 'tau_{joint}'}}, "needs the names of the joints: give 'joints'"),
        ({'torque': {'columns': '3-4', 'transposed': True}}, "'transposed' is for a 'variable'"),
        ({'topics': {}, 'rate_hz': None}, "neither 'time' nor 'rate_hz'"),
        ({'time': {}}, "'time' gives neither 'column' nor 'variable'"),
    ],
)
def test_mappings_that_do_not_fit_the_file(tmp_path, write, change, message):
    path = table(tmp_path, np.hstack(samples()))
    mapping = write(**{'rate_hz': 100, **COLUMNS, **change})
    with pytest.raises(DataError, match=message) as caught:
        data.load(path, mapping)
    assert '\n' not in str(caught.value)


def test_unknown_names_and_broken_yaml(tmp_path):
    with refused(DataError, code='no_mapping'):
        load_mapping('tx40_csvv')
    broken = tmp_path / 'broken.yaml'
    broken.write_text('position: [1, 2\n')
    with refused(DataError, code='not_yaml'):
        load_mapping(broken)
    broken.write_text('just words')
    with refused(DataError, code='not_a_table'):
        load_mapping(broken)


def test_aliases_and_names_of_columns_made_of_them(tmp_path, write):
    q, tau = samples()
    path = table(tmp_path, np.hstack([q, tau]), header='q_A1,q_A2,tau_A1,tau_A2')
    mapping = write(
        rate_hz=100,
        joints={'A2': 'elbow', 'A1': 'shoulder'},
        position={'columns': 'q_{joint}'},
        torque={'columns': 'tau_{joint}', 'scale': [2, 3]},
    )
    dataset = data.load(path, mapping, joint_names=('shoulder', 'elbow'))
    assert dataset.joint_names == ('shoulder', 'elbow')
    np.testing.assert_allclose(dataset.runs[0].position, q)
    np.testing.assert_allclose(dataset.runs[0].torque, tau * [3, 2])


def test_seconds_count_from_the_first_sample(tmp_path, write):
    q, tau = samples()
    t = 1e3 + np.arange(50) * 0.1
    path = table(tmp_path, np.hstack([t[:, None], q, tau]))
    columns = {'position': {'columns': '2-3'}, 'torque': {'columns': '4-5'}}
    mapping = write(time={'column': 1}, seconds=[[0, 1.01], [1.95, 3.05]], **columns)
    first, second = data.load(path, mapping).runs
    np.testing.assert_allclose(first.position, q[:11])
    np.testing.assert_allclose(second.position, q[20:31])
