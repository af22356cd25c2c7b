"""Recordings of other shapes: a file for each joint, products, JSON, unequal lengths and rates."""

import json

import numpy as np
import pyarrow as arrow
import pytest
from errors import refused
from pyarrow import parquet
from scipy.io import savemat

from robot_id import data
from robot_id.data import Run
from robot_id.exceptions import DataError

N = 60
T = np.arange(N) / 100.0
Q = np.sin(3.0 * T[:, None] + [0.0, 1.0])
DUTY = np.cos(2.0 * T[:, None] + [0.0, 1.0])
VOLTS = 12.0 + 0.1 * np.sin(T[:, None] + [0.0, 2.0])


def csv(path, header, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=',', header=header, comments='')


def joint_files(folder, shift=0.0, short=0):
    for j, name in enumerate(('a', 'b')):
        keep = slice(0, N - short * j)
        csv(
            folder / f'log_{name}.csv', 't,angle,duty,volts',
            T[keep] + shift * j, Q[keep, j], DUTY[keep, j], VOLTS[keep, j],
        )  # fmt: skip


MAPPED = {
    'joints': ['a', 'b'],
    'time': {'column': 't'},
    'position': {'file': 'log_{joint}.csv', 'columns': 'angle'},
    'torque': {
        'file': 'log_{joint}.csv', 'columns': 'duty', 'multiplied_by': 'volts', 'unit': 'V',
        'scale': [2.0, -3.0],
    },
}  # fmt: skip


def test_a_file_for_each_joint_and_a_product_of_columns(tmp_path, write):
    joint_files(tmp_path)
    (run,) = data.load(tmp_path, write(**MAPPED)).runs
    np.testing.assert_allclose(run.position, Q)
    np.testing.assert_allclose(run.torque, DUTY * VOLTS * [2.0, -3.0])
    # One factor for all joints, by the names of a variable.
    np.savez(tmp_path / 'x.npz', t=T, q=Q, u=DUTY, volts=VOLTS[:, 0])
    torque = {'variable': 'u', 'multiplied_by': 'volts', 'unit': 'V', 'scale': 1.0}
    mapping = write(time={'variable': 't'}, position={'variable': 'q'}, torque=torque)
    (run,) = data.load(tmp_path / 'x.npz', mapping).runs
    np.testing.assert_allclose(run.torque, DUTY * VOLTS[:, :1])


def test_files_of_joints_that_end_earlier_or_have_other_times(tmp_path, write):
    joint_files(tmp_path, short=5)
    (run,) = data.load(tmp_path, write(**MAPPED)).runs
    np.testing.assert_allclose(run.position, Q[: N - 5])
    joint_files(tmp_path, shift=1.0)
    with refused(DataError, code='unequal_times'):
        data.load(tmp_path, write(**MAPPED))


@pytest.mark.parametrize(
    ('key', 'value'), [('rows', [1, 50]), ('rows', {'q.csv': [[3, 40]]}), ('seconds', [0, 0.5])]
)
def test_unequal_lengths_do_not_matter_behind_the_wanted_rows(tmp_path, write, key, value):
    csv(tmp_path / 'q.csv', 'x,y', Q)
    csv(tmp_path / 'tau.csv', 'x,y', DUTY[:-1])
    mapping = {
        'rate_hz': 100,
        'position': {'file': 'q.csv', 'columns': '1-2'},
        'torque': {'file': 'tau.csv', 'columns': '1-2'},
    }
    with refused(DataError, code='unequal_lengths'):
        data.load(tmp_path, write(**mapping))
    with refused(DataError, code='unequal_lengths'):
        data.load(tmp_path, write(**mapping, rows=[1, 60]))
    first = 3 if isinstance(value, dict) else 1
    (run,) = data.load(tmp_path, write(**mapping, **{key: value})).runs
    np.testing.assert_allclose(run.position[0], Q[first - 1])
    np.testing.assert_allclose(run.torque, DUTY[first - 1 : first - 1 + len(run)])


@pytest.mark.parametrize('file', ['../q.csv', '/etc/q.csv', 'a/../../q.csv', '..', ''])
def test_a_file_outside_of_the_folder_is_refused(tmp_path, write, file):
    inside = tmp_path / 'inside'
    inside.mkdir()
    csv(tmp_path / 'q.csv', 'x,y', Q)
    with pytest.raises(DataError, match=r'position\.file'):
        data.load(
            inside,
            write(rate_hz=100, position={'file': file, 'columns': 1}, torque={'columns': 2}),
        )


@pytest.mark.parametrize('by_sample', [False, True])
def test_lists_in_json(tmp_path, write, by_sample):
    path = tmp_path / 'log.json'
    lists = {'t': T.tolist(), 'log': {'q': Q.tolist(), 'tau': DUTY.tolist()}}
    samples = [
        {'t': t, 'log': {'q': list(q), 'tau': list(tau)}, 'mode': 'x'}
        for t, q, tau in zip(T, Q, DUTY)
    ]
    path.write_text(json.dumps(samples if by_sample else lists))
    mapping = write(
        time={'variable': 't'}, position={'variable': 'log.q'}, torque={'variable': 'log.tau'}
    )
    (run,) = data.load(path, mapping).runs
    np.testing.assert_allclose(run.position, Q)
    np.testing.assert_allclose(run.torque, DUTY)


def test_json_with_our_own_names_needs_no_mapping(tmp_path):
    path = tmp_path / 'log.json'
    path.write_text(json.dumps({'t': T.tolist(), 'q': Q.tolist(), 'tau': DUTY.tolist()}))
    np.testing.assert_allclose(data.load(path).runs[0].torque, DUTY)


@pytest.mark.parametrize('name', ['log.json', 'log.parquet', 'log.mat', 'log.npz'])
def test_variables_named_as_the_columns_of_a_csv_need_no_mapping(tmp_path, name):
    path = tmp_path / name
    columns = {'time': T, 'torque.b': DUTY[:, 1], 'torque.a': DUTY[:, 0]}
    columns |= {'position.b': Q[:, 1], 'position.a': Q[:, 0]}
    if path.suffix == '.parquet':
        parquet.write_table(arrow.table(columns), path)
    elif path.suffix == '.npz':
        np.savez(path, **columns)
    else:
        parts = {
            part: {j: columns[f'{part}.{j}'] for j in 'ba'} for part in ('position', 'torque')
        }
        tree = {'time': T, **parts}
        if path.suffix == '.mat':
            savemat(path, tree)
        else:
            path.write_text(json.dumps(tree, default=np.ndarray.tolist))
    dataset = data.load(path, joint_names=('a', 'b'))
    np.testing.assert_array_equal(dataset.runs[0].position, Q)
    np.testing.assert_array_equal(dataset.runs[0].torque, DUTY)


@pytest.mark.parametrize('end', ['', '\n', '\n{"t": 3.1, "q": [0.', '\n\n'])
def test_a_sample_in_each_line_of_json(tmp_path, end):
    path = tmp_path / 'log.jsonl'
    samples = [{'t': t, 'q': list(q), 'tau': list(tau)} for t, q, tau in zip(T, Q, DUTY)]
    path.write_text('\n'.join(map(json.dumps, samples)) + end)
    (run,) = data.load(path).runs
    np.testing.assert_allclose(run.position, Q)
    np.testing.assert_allclose(run.torque, DUTY)


@pytest.mark.parametrize(
    'text',
    ['[', '[' * 100_000, '3', '[1, 2]', '{"t": [0, 1], "q": [[1], [2, 3]], "tau": [1, 2]}',
     '{"t": [0, 1], "q": ["a", "b"], "tau": [1, 2]}', '{"a": ' * 50 + '1' + '}' * 50],
    ids=['cut', 'deep', 'number', 'numbers', 'ragged', 'words', 'nested'],
)  # fmt: skip
def test_json_that_is_no_recording_is_refused(tmp_path, text):
    path = tmp_path / 'log.json'
    path.write_text(text)
    with pytest.raises(DataError, match=r'log\.json'):
        data.load(path)


@pytest.mark.parametrize('text', ['', '{\n', '3\n', '{"t": 0}\n{\n{"t": 1}\n', '[' * 100_000])
def test_lines_of_json_that_are_no_recording_are_refused(tmp_path, text):
    path = tmp_path / 'log.jsonl'
    path.write_text(text)
    with pytest.raises(DataError, match=r'log\.jsonl'):
        data.load(path)


def test_runs_of_two_rates_are_resampled_to_the_lower(tmp_path):
    paths = []
    for rate in (187.0, 185.0):
        t = np.arange(400) / rate
        paths.append(tmp_path / f'{rate}.npz')
        np.savez(paths[-1], t=t, q=np.sin(3.0 * t)[:, None], tau=np.cos(2.0 * t)[:, None])
    for order in (paths, paths[::-1]):
        found = data.load(order)
        assert all(abs(run.rate - 185.0) < 1e-6 for run in found.runs)
        for run in found.runs:
            np.testing.assert_allclose(run.position[:, 0], np.sin(3.0 * run.time), atol=1e-7)
            np.testing.assert_allclose(run.torque[:, 0], np.cos(2.0 * run.time), atol=1e-4)


@pytest.mark.parametrize('harm', ['gap', 'backward', 'nan'])
def test_a_run_refuses_times_that_are_not_uniform(harm):
    t = T.copy()
    if harm == 'gap':
        t[30:] += 2.0
    elif harm == 'backward':
        t[30] -= 0.5
    else:
        t[30] = np.nan
    with refused(DataError, code='not_uniform'):
        Run(t, Q, DUTY)
    Run(T + np.random.default_rng(0).uniform(-0.002, 0.002, N), Q, DUTY)
