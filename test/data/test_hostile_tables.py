"""Tables and mappings that ask for too much or make no sense: one line, and soon."""

import contextlib
import gzip
import io
import zipfile

import h5py
import numpy as np
import pytest

from robot_id import budget, data
from robot_id.exceptions import DataError, RobotIdError

T = np.arange(400) * 1e-3
HEADER = 'time,position.a,torque.a'


def csv(path, time=T, header=HEADER):
    rows = [f'{t!r},{np.sin(y)},{np.cos(y)}' for t, y in zip(time.tolist(), T)]
    path.write_text('\n'.join([header, *rows]) + '\n')
    return path


def refused(path, mapping=None):
    with pytest.raises(DataError) as caught:
        data.load(path, mapping)
    line = str(caught.value)
    assert '\n' not in line
    assert len(line) < 1300
    return line


def test_one_endless_line(tmp_path):
    path = tmp_path / 'x.csv.gz'
    with gzip.open(path, 'wb', compresslevel=1) as file:
        for _ in range(64):
            file.write(b'1' * (1 << 20))
    assert 'a line has more than' in refused(path)


def test_rows_that_unfold_beyond_the_budget(tmp_path):
    path = tmp_path / 'x.csv.gz'
    with gzip.open(path, 'wb', compresslevel=1) as file:
        file.write(HEADER.encode() + b'\n' + b'0,0,0\n' * (1 << 20))
    budget.set_memory(32 << 20)
    try:
        assert '--memory' in refused(path)
    finally:
        budget.set_memory()


def test_array_of_a_million_million(tmp_path):
    head = io.BytesIO()
    form = {'descr': '<f8', 'fortran_order': False, 'shape': (10**12,)}
    np.lib.format.write_array_header_1_0(head, form)
    with zipfile.ZipFile(tmp_path / 'x.npz', 'w') as archive:
        archive.writestr('time.npy', head.getvalue())
    assert '--memory' in refused(tmp_path / 'x.npz')


def test_archive_that_unfolds(tmp_path):
    np.savez_compressed(tmp_path / 'x.npz', time=np.zeros(5_000_000))
    budget.set_memory(16 << 20)
    try:
        assert '--memory' in refused(tmp_path / 'x.npz')
    finally:
        budget.set_memory()


@pytest.mark.parametrize('kind', ['npz', 'mat'])
def test_damaged_bytes(tmp_path, kind):
    path = tmp_path / f'x.{kind}'
    values = {'time': T, 'position': np.sin(T), 'torque': np.cos(T)}
    if kind == 'npz':
        np.savez(path, **values)
    else:
        with h5py.File(path, 'w') as file:
            for name, array in values.items():
                file[name] = array
    raw = path.read_bytes()
    draw = np.random.default_rng(3)
    for _ in range(60):
        changed = np.frombuffer(raw, np.uint8).copy()
        at = draw.integers(0, min(len(raw), 3000), 6)
        changed[at] = draw.integers(0, 256, 6)
        path.write_bytes(changed.tobytes())
        with contextlib.suppress(RobotIdError):
            data.load(path)


@pytest.mark.parametrize('factor', [1e300, 1e-300])
def test_impossible_times(tmp_path, factor):
    assert 'time' in refused(csv(tmp_path / 'x.csv', T * factor))


def test_value_that_no_robot_has_is_taken_out_and_told(tmp_path):
    path = csv(tmp_path / 'x.csv')
    lines = path.read_text().splitlines()
    lines[200] = lines[200].rsplit(',', 1)[0] + ',1e89'
    path.write_text('\n'.join(lines) + '\n')
    dataset = data.load(path)
    assert np.abs(dataset.runs[0].torque).max() < 2.0
    assert any('1e+89' in note for note in dataset.notes)


def test_columns(tmp_path):
    path = tmp_path / 'x.csv'
    path.write_text(','.join(f'c{i}' for i in range(20_000)) + '\n')
    assert '20000 columns' in refused(path)
    csv(path, header='time,position.a,position.a')
    (tmp_path / 'm.yaml').write_text(
        'rate_hz: 1000\nposition: {columns: position.a}\ntorque: {columns: 3}\n'
    )
    assert 'appears twice' in refused(path, tmp_path / 'm.yaml')


def test_complex_values(tmp_path):
    np.savez(tmp_path / 'x.npz', time=T, position=1j * T, torque=T)
    assert 'real numbers' in refused(tmp_path / 'x.npz')


@pytest.mark.parametrize(
    'text',
    [
        'rate_hz: 1.0e+7\ntime: {column: 1}\nposition: {columns: 2}\ntorque: {columns: 3}',
        'rate_hz: 1000\nposition: {columns: "1-3000000000"}\ntorque: {columns: 3}',
        'rate_hz: 1000\nposition: {columns: "1-30000"}\ntorque: {columns: 3}',
        'rate_hz: 1000\nposition: {columns: [2, 3], motor_matrix: [[1, 2], [3]]}\n'
        'torque: {columns: [2, 3]}',
        'rate_hz: 1000\nposition: {columns: 2, scale: .inf}\ntorque: {columns: 3}',
        '1: 2',
        '[1, 2]: 3',
        'rate_hz: 2024-13-45',
        'rate_hz: ' + '9' * 5000,
        'a: ' + '[' * 5000,
        'a: &a [*a]',
        'a: &a [1, 1, 1, 1]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]',
    ],
)
def test_hostile_mappings(tmp_path, text):
    (tmp_path / 'm.yaml').write_text(text)
    refused(csv(tmp_path / 'x.csv'), tmp_path / 'm.yaml')


def test_changed_numbers_of_an_archive_are_never_read_silently(tmp_path):
    path = tmp_path / 'x.npz'
    np.savez(path, time=T, position=np.sin(T), torque=np.cos(T))
    raw, sound = path.read_bytes(), data.load(path)
    start = raw.index(np.cos(T)[:4].tobytes())
    for bit in range(0, 8 * 64, 37):
        changed = bytearray(raw)
        changed[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(changed))
        refused(path)
    assert len(sound) == T.size


def test_names_that_are_none_and_columns_that_stand_twice(tmp_path):
    path = tmp_path / 'x.npz'
    np.savez(path, time=T, position=T, torque=T, joint_names=np.zeros(T.size, bool))
    assert 'joint_names' in refused(path)
    path = tmp_path / 'x.csv'
    path.write_text('time,position.a,position.a,torque.a\n0,1,1,1\n1,1,1,1\n')
    assert "'position.a' appears twice" in refused(path)
