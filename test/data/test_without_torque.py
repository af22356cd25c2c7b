"""Recordings without torques: mappings, tables, bags, LeRobot data sets, refusals."""

import json

import numpy as np
import pytest

import robot_id
from robot_id import data
from robot_id.data.dataset import Dataset, Run
from robot_id.exceptions import DataError
from robot_id.tasks.measurements import prepared

T = np.arange(200) / 50.0
Q = np.stack([np.sin(T), np.cos(2 * T)], axis=1)
GOAL = Q + 0.1


def recording():
    run = Run(T, Q, reference_position=GOAL)
    return Dataset(('a', 'b'), (run,), source='x.csv')


@pytest.mark.parametrize('name', ['x.csv', 'x.csv.gz', 'x.npz', 'bag'])
def test_what_is_written_is_read_back(tmp_path, name):
    data.save(recording(), tmp_path / name)
    found = data.load(tmp_path / name)
    assert not found.has_torque
    assert found.runs[0].torque.shape == (200, 0)
    assert np.allclose(found.runs[0].position, Q)
    assert np.allclose(found.runs[0].reference_position, GOAL)
    assert found.select(('b', 'a')).runs[0].position[3, 0] == pytest.approx(Q[3, 1])


def test_who_needs_torques_refuses_and_names_who_does_not():
    with pytest.raises(DataError, match='servo_oe'):
        prepared(recording())
    assert prepared(recording(), needs_torque=False).runs[0].position.shape == Q.shape


def test_the_check_looks_at_what_needs_no_torque(emps):
    run = Run(T, 0.1 * Q[:, :1], reference_position=0.1 * GOAL[:, :1])
    findings = robot_id.check(emps, Dataset(emps.joint_names, (run,)))
    assert 'zero_torque' not in [finding.code for finding in findings]


def test_a_constant_by_file_name_and_a_list_of_entries(tmp_path):
    entries = [{'t': t, 'q': list(q), 'goal': list(g)} for t, q, g in zip(T, Q, GOAL)]
    path = tmp_path / 'kp20_run.json'
    path.write_text(json.dumps({'mass': 0.5, 'entries': entries}))
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text(
        'time: {variable: entries.t}\nposition: {variable: entries.q}\n'
        'reference_position: {variable: entries.goal}\n'
        "gain: {value: {'kp10_*': 10, 'kp20_*': [20, 21]}}\nsupply: {value: 7400, unit: mV}\n"
    )
    run = data.load(path, mapping).runs[0]
    assert np.allclose(run.position, Q)
    assert run.gain[0].tolist() == [20.0, 21.0]
    assert run.supply[0].tolist() == [7.4, 7.4]
    path.rename(tmp_path / 'other.json')
    with pytest.raises(DataError, match='no pattern'):
        data.load(tmp_path / 'other.json', mapping)


def lerobot(folder, state, action, version=3):
    """Write two episodes of a data set, the values of the second one larger by 1."""
    pa = pytest.importorskip('pyarrow')
    import pyarrow.parquet as pq

    (folder / 'meta').mkdir()
    names = ['shoulder.pos', 'elbow.pos']
    feature = {'dtype': 'float32', 'shape': [2], 'names': names}
    info = {'fps': 50, 'features': {'observation.state': feature, 'action': feature}}
    (folder / 'meta' / 'info.json').write_text(json.dumps(info))
    tables = [
        pa.table(
            {
                'observation.state': list(state + k), 'action': list(action + k),
                'timestamp': T, 'episode_index': np.full(200, k), 'task': ['x'] * 200,
            }
        )
        for k in range(2)
    ]  # fmt: skip
    place = folder / 'data' / 'chunk-000'
    place.mkdir(parents=True)
    if version == 2:
        for k, table in enumerate(tables):
            pq.write_table(table, place / f'episode_{k:06d}.parquet')
    else:
        pq.write_table(pa.concat_tables(tables), place / 'file-000.parquet')
    return folder


@pytest.mark.parametrize('version', [2, 3])
def test_lerobot_data_sets_in_degrees(tmp_path, version):
    degrees = np.rad2deg(Q)
    lerobot(tmp_path, degrees, degrees + 5, version)
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text('topics: {}\nposition: {unit: deg}\n')
    found = data.load(tmp_path, mapping, joint_names=('elbow', 'shoulder'))
    assert len(found.runs) == 2
    assert np.allclose(found.runs[1].position[:, 1], Q[:, 0] + np.deg2rad(1))
    # Commands are in the unit of the positions.
    assert np.allclose(found.runs[0].reference_position[:, 0], Q[:, 1] + np.deg2rad(5))


def test_lerobot_values_of_a_calibrated_range(tmp_path):
    """As its drivers normalise: encoder counts over the range of each motor, one turned round."""
    low, high = np.array([900, 2000]), np.array([3100, 3400])  # counts, 4096 a turn
    counts = 2048 + Q * 4096 / (2 * np.pi) * [0.9, 0.2] + [0, 600]
    share = (counts - low) / (high - low)
    raw = np.column_stack([-(200 * share[:, 0] - 100), 100 * share[:, 1]])
    lerobot(tmp_path, raw, raw + 2)
    angle = (np.stack([low, high]) - 2048) * 2 * np.pi / 4096
    ends = angle.T.tolist()
    ends[0].reverse()
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text(
        'topics: {}\nposition: {unit: percent_of_range, raw_range: [[-100, 100], [0, 100]], '
        f'range: {ends}}}\n'
    )
    run = data.load(tmp_path, mapping).runs[0]
    assert np.allclose(run.position, (counts - 2048) * 2 * np.pi / 4096)
    step = [-2 * (angle[1, 0] - angle[0, 0]) / 200, 2 * (angle[1, 1] - angle[0, 1]) / 100]
    assert np.allclose(run.reference_position - run.position, step)


@pytest.mark.parametrize(
    ('channels', 'told'),
    [
        (None, 'percent_of_range'),
        ('position: {offset: 0.1}', 'percent_of_range'),
        ('position: {unit: deg}\nreference_position: {offset: 0.1}', 'reference_position'),
        ('position: {unit: percent_of_range}', "needs 'range'"),
        ('position: {unit: percent_of_range, range: [1, 1]}', 'equal'),
        ('position: {unit: percent_of_range, range: [[1, 2, 3]]}', 'pair'),
        ('position: {unit: percent_of_range, range: [0, 1], scale: 2}', "'scale'"),
        ('position: {unit: deg, range: [0, 1]}', "'range' belongs"),
        ('position: {unit: percent_of_range, range: [[0, 1], [0, 1], [0, 1]]}', '3 values for 2'),
    ],
)
def test_lerobot_units_are_never_guessed(tmp_path, channels, told):
    lerobot(tmp_path, Q, Q)
    mapping = tmp_path / 'mapping.yaml'
    mapping.write_text(f'topics: {{}}\n{channels}\n')
    with pytest.raises(DataError, match=told):
        data.load(tmp_path, None if channels is None else mapping)


def test_a_leg_of_a_larger_robot_is_told_what_to_do_with_the_other_joints(tmp_path):
    np.savetxt(tmp_path / 'leg.csv', np.hstack([T[:, None], Q, GOAL]), delimiter=',')
    mapping = tmp_path / 'leg.yaml'
    text = 'time: {column: 1}\nposition: {columns: 2-3}\nreference_position: {columns: 4-5}\n'
    mapping.write_text(text)
    with pytest.raises(DataError, match=r"2 position columns for 3 joints: .*'locked'"):
        data.load(tmp_path / 'leg.csv', mapping, joint_names=('hip', 'knee', 'wheel'))
    mapping.write_text(f'joints: [hip, knee]\n{text}')
    found = data.load(tmp_path / 'leg.csv', mapping)
    with pytest.raises(DataError, match=r"no joint 'wheel'.*'locked'"):
        found.select(('hip', 'knee', 'wheel'))
    with pytest.raises(DataError, match=r"no joint 'calf'.*'joints' of the mapping"):
        found.select(('hip', 'calf'))


@pytest.mark.parametrize('name', ['x.pkl', 'x.pt', 'x.pth'])
def test_pickled_files_are_never_opened(tmp_path, name):
    mark = tmp_path / 'mark'
    command = f"cos\nsystem\n(S'touch {mark}'\ntR."
    (tmp_path / name).write_text(command)
    with pytest.raises(DataError, match='pickled'):
        data.load(tmp_path / name)
    assert not mark.exists()


def test_torque_from_the_law_of_a_pd_loop(tmp_path):
    dq = np.stack([np.cos(T), -2 * np.sin(2 * T)], axis=1)
    values = np.hstack([T[:, None], Q, dq, GOAL])
    path, mapping = tmp_path / 'leg.csv', tmp_path / 'leg.yaml'
    np.savetxt(path, values, delimiter=',')
    text = (
        'time: {column: 1}\nposition: {columns: 2-3}\nvelocity: {columns: 4-5}\n'
        'reference_position: {columns: 6-7}\ntorque: {from: pd, kp: [20, 30], kd: 0.5, DELAY}\n'
    )
    mapping.write_text(text.replace(', DELAY', ''))
    expected = [20, 30] * (GOAL - Q) - 0.5 * dq
    found = data.load(path, mapping)
    assert found.has_torque
    assert np.allclose(found.runs[0].torque, expected)
    mapping.write_text(text.replace('DELAY', 'delay: 0.02'))
    assert np.allclose(data.load(path, mapping).runs[0].torque[1:], expected[:-1])
    mapping.write_text(text.replace('DELAY', 'reference_delay: 0.02'))
    driven = [20, 30] * (GOAL[:-1] - Q[1:]) - 0.5 * dq[1:]
    assert np.allclose(data.load(path, mapping).runs[0].torque[1:], driven)
    mapping.write_text(text.replace('DELAY', 'reference_delay: -0.02'))
    with pytest.raises(DataError, match='reference_delay'):
        data.load(path, mapping)
    mapping.write_text(text.replace('DELAY', 'limit: 1.0'))
    assert np.abs(data.load(path, mapping).runs[0].torque).max() <= 1.0
    mapping.write_text(text.replace('kp: [20, 30], ', '').replace(', DELAY', ''))
    with pytest.raises(DataError, match='kp'):
        data.load(path, mapping)


def test_a_voltage_in_place_of_a_torque_says_that_parameters_are_ratios(tmp_path):
    path, mapping = tmp_path / 'duty.csv', tmp_path / 'duty.yaml'
    np.savetxt(path, np.hstack([T[:, None], Q, 0.1 * GOAL]), delimiter=',')
    mapping.write_text(
        'time: {column: 1}\nposition: {columns: 2-3}\n'
        'torque: {from: voltage, columns: 4-5, unit: V}\n'
    )
    found = data.load(path, mapping)
    assert np.allclose(found.runs[0].torque, 0.1 * GOAL)
    assert any('ratios' in note for note in found.notes)
