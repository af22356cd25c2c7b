"""MATLAB files as scipy writes and reads them; damaged ones end in one line."""

import io
import random
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from robot_id import budget, data
from robot_id.data.io.matlab import read_mat
from robot_id.exceptions import DataError

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tools.fuzz.structure import tags

T = np.arange(400) * 1e-3
NAMES = np.array(['base', 'elbow'], dtype=object)
CONTENT = {
    'time': T[:, None],
    'log': {'q': np.stack([np.sin(T), np.cos(T)], axis=1), 'deep': {'n': np.int8([[1, -2]])}},
    'count': np.arange(12, dtype='u2').reshape(3, 4),
    'box': np.arange(24.0).reshape(2, 3, 4),
    'single': np.float32([[1.5, 2.5]]),
    'yes': np.array([[True, False, True]]),
    'one': 3.0,
}


@pytest.mark.parametrize('compressed', [False, True])
def test_numbers_and_structs_as_scipy_reads_them(tmp_path, compressed):
    path = tmp_path / 'a.mat'
    savemat(path, CONTENT, do_compression=compressed)
    found, expected = read_mat(path), loadmat(path, simplify_cells=True)
    expected |= {'log.q': expected['log']['q'], 'log.deep.n': expected['log']['deep']['n']}
    assert set(found) == {k for k in expected if k[:2] != '__' and k != 'log'}
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name])
        assert values.flags.writeable


def test_version_4(tmp_path):
    path = tmp_path / 'a.mat'
    savemat(path, {'time': T, 'q': CONTENT['log']['q'], 'text': 'abc', 'z': 1j}, format='4')
    found, expected = read_mat(path), loadmat(path, squeeze_me=True)
    for name in ('time', 'q'):
        np.testing.assert_array_equal(found[name], expected[name])
    assert found['text'] is None
    assert found['z'] is None


@pytest.mark.parametrize('names', [NAMES, np.array(['base ', 'elbow'])])
def test_names_of_joints(tmp_path, names):
    path = tmp_path / 'a.mat'
    q = CONTENT['log']['q']
    savemat(path, {'time': T, 'position': q, 'torque': q, 'joint_names': names})
    assert data.load(path).joint_names == ('base', 'elbow')


def test_big_endian(tmp_path):
    """A file of another byte order, written by hand."""

    def element(kind, payload):
        return struct.pack('>II', kind, len(payload)) + payload + b'\0' * (-len(payload) % 8)

    values = np.arange(6.0).reshape(2, 3)
    body = element(6, struct.pack('>II', 6, 0)) + element(5, struct.pack('>ii', 2, 3))
    body += element(1, b'x') + element(9, values.T.astype('>f8').tobytes())
    path = tmp_path / 'a.mat'
    path.write_bytes(b'MATLAB 5.0 MAT-file'.ljust(124) + b'\x01\x00MI' + element(14, body))
    np.testing.assert_array_equal(read_mat(path)['x'], values)
    np.testing.assert_array_equal(loadmat(path)['x'], values)


def test_any_tag_ends_in_one_line(tmp_path):
    """Sizes, types and dimensions that ended the process in scipy's reader."""
    file = io.BytesIO()
    q = CONTENT['log']['q']
    savemat(file, {'time': T, 'position': q, 'torque': q, 'log': {'a': NAMES, 'b': 'text'}})
    path = tmp_path / 'a.mat'
    lines = []
    for seed in range(600):
        path.write_bytes(tags(file.getvalue(), random.Random(seed)))
        try:
            data.load(path)
        except DataError as error:
            lines.append(str(error))
    assert len(lines) > 300
    assert not any('\n' in line for line in lines)


def test_a_compressed_variable_that_unfolds(tmp_path):
    path = tmp_path / 'a.mat'
    packed = zlib.compress(struct.pack('<II', 14, 1 << 26) + bytes(1 << 26))
    head = b'MATLAB 5.0 MAT-file'.ljust(124) + b'\x00\x01IM'
    path.write_bytes(head + struct.pack('<II', 15, len(packed)) + packed)
    budget.set_memory(16 << 20)
    try:
        with pytest.raises(DataError, match='--memory'):
            data.load(path)
    finally:
        budget.set_memory()


def test_nested_without_end(tmp_path):
    deep = {'x': 1.0}
    for _ in range(30):
        deep = {'x': deep}
    savemat(tmp_path / 'a.mat', {'a': deep})
    with pytest.raises(DataError, match='nested too deeply'):
        data.load(tmp_path / 'a.mat')
