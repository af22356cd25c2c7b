"""csv, MATLAB and npz files: all forms read, all damage named in one line."""

import gzip

import h5py
import numpy as np
import pytest
from errors import refused
from scipy.io import savemat

from robot_id import data
from robot_id.data.io.csv import read_csv
from robot_id.exceptions import DataError

MAPPING = data.Mapping.model_validate(
    {'rate_hz': 100, 'position': {'columns': 1}, 'torque': {'columns': 2}}
)


def text(rows=100):
    return ''.join(f'{k / 7!r},{k * 3}\n' for k in range(rows))


@pytest.mark.parametrize('mark', [',', ';', '\t', ' '])
@pytest.mark.parametrize('header', ['', 'q{0}tau\n', '# q{0}tau\n', '"q"{0}"tau"\n'])
def test_separators_and_headers_are_found(tmp_path, mark, header):
    path = tmp_path / 'log.csv'
    path.write_text(header.format(mark) + text().replace(',', mark))
    names, values, notes = read_csv(path)
    assert names == (['q', 'tau'] if header else None)
    assert values.shape == (100, 2)
    assert values[7, 0] == 1.0
    assert notes == ()


@pytest.mark.parametrize(
    ('written', 'noted'),
    [
        ('q;tau\n' + text().replace(',', ';').replace('.', ','), False),
        ('q\ttau\n' + text().replace(',', '\t').replace('.', ','), False),
        ('\n'.join(f'"{row}"' for row in f'q,tau\n{text()}'.replace(',', '","').split()), False),
        ('# made on Monday by our logger\nq,tau\n' + text(), False),
        ('Recording of Monday\nq,tau\n' + text(), False),
        ('q,tau\n[rad],[N.m]\n' + text(), True),
    ],
    ids=['comma', 'comma and tab', 'quotes', 'comment', 'title', 'units'],
)  # fmt: skip
def test_tables_as_spreadsheets_and_loggers_write_them(tmp_path, written, noted):
    path = tmp_path / 'log.csv'
    path.write_text(written)
    names, values, notes = read_csv(path)
    assert names == ['q', 'tau']
    np.testing.assert_array_equal(values, [[k / 7, k * 3] for k in range(100)])
    assert len(notes) == noted
    assert all('line 2' in note and '[rad]' in note for note in notes)


@pytest.mark.parametrize(('name', 'packed'), [('log.csv', True), ('log.csv.gz', False)])
def test_a_file_is_unpacked_by_what_it_is_whatever_its_name(tmp_path, name, packed):
    path = tmp_path / name
    raw = ('q,tau\n' + text()).encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    names, values, notes = read_csv(path)
    assert names == ['q', 'tau']
    assert values.shape == (100, 2)
    assert notes == ()


@pytest.mark.parametrize(
    ('form', 'mark'),
    [('2026-11-19T22:02:{:09.6f}', ','), ('2026-11-19 22:02:{:06.3f}Z', ';'),
     ('2026-11-20T00:02:{:012.9f}+02:00', ',')],
)  # fmt: skip
def test_dates_and_times_are_seconds(tmp_path, form, mark):
    path = tmp_path / 'log.csv'
    rows = ''.join(f'{form.format(0.01 * k)}{mark}{k}\n' for k in range(100))
    path.write_text(f'time{mark}q\n{rows}')
    names, values, notes = read_csv(path)
    assert names == ['time', 'q']
    assert notes == ()
    began = 1795125720.0  # of 2026-11-19 22:02:00 UTC
    np.testing.assert_allclose(values[:, 0] - began, 0.01 * np.arange(100), rtol=0, atol=1e-6)


@pytest.mark.parametrize('cell', ['2026-13-19T22:02:00', '2026-11-19T25:02:00', '2026-11-19'])
def test_dates_that_are_none_are_named(tmp_path, cell):
    path = tmp_path / 'log.csv'
    path.write_text('time,q\n' + text(20) + f'{cell},3\n' + text(20))
    with pytest.raises(DataError, match=f"row 21, column 1: '{cell}' is not a number"):
        read_csv(path)


def test_utf_16_is_named(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_bytes(text().encode('utf-16'))
    with refused(DataError, code='encoding'):
        read_csv(path)


def test_a_bad_number_is_named_with_row_and_column(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text(text(50) + '1.0,oops\n' + text(50))
    with pytest.raises(DataError, match="row 51, column 2: 'oops' is not a number"):
        data.load(path, MAPPING)


def test_a_missing_column_is_named_with_its_row(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text(text(20) + '1.0\n' + text(20))
    with pytest.raises(DataError, match='row 21 has 1 columns, row 1 has 2'):
        data.load(path, MAPPING)


def test_empty_cells_are_missing_samples(tmp_path):
    path = tmp_path / 'log.csv'
    lines = text(50).splitlines()
    lines[30] = f'{30 / 7!r},'
    path.write_text('\n'.join(lines) + '\n')
    dataset = data.load(path, MAPPING)
    assert len(dataset) == 50
    assert dataset.runs[0].torque[30, 0] == pytest.approx(90.0)
    assert "torque of joint 'joint_1', row 31 (t = 0.3 s)" in dataset.notes[0]


def test_a_cut_last_row_is_left_out_and_reported(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text(text(50) + '7.25')
    dataset = data.load(path, MAPPING)
    assert len(dataset) == 50
    assert 'last row is cut off' in dataset.notes[0]


def test_a_cut_gz_gives_what_is_readable(tmp_path):
    path = tmp_path / 'log.csv.gz'
    path.write_bytes(gzip.compress(text(20_000).encode()))
    path.write_bytes(path.read_bytes()[:-2000])
    dataset = data.load(path, MAPPING)
    rows = len(dataset)
    assert 10_000 < rows < 20_000
    assert np.array_equal(dataset.runs[0].torque[:, 0], 3.0 * np.arange(rows))
    assert 'cut off' in dataset.notes[0]
    assert f'{rows} rows were read' in dataset.notes[0]


@pytest.mark.parametrize('name', ['a.csv', 'a.csv.gz', 'a.mat', 'a.npz', 'a.mcap', 'a.db3'])
def test_empty_files(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b'')
    with pytest.raises(DataError, match=f'{name}: the file is empty'):
        data.load(path, None if name.endswith(('mcap', 'db3')) else MAPPING)


@pytest.mark.parametrize('name', ['a.mat', 'a.npz', 'a.csv.gz', 'a.mcap', 'a.db3'])
def test_files_that_are_something_else(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b'this is not what the ending says' * 20)
    with pytest.raises(DataError, match=name) as caught:
        data.load(path, None if name.endswith(('mcap', 'db3')) else MAPPING)
    assert '\n' not in str(caught.value)


def test_header_without_rows(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text('q,tau\n')
    with refused(DataError, code='no_rows'):
        data.load(path, MAPPING)


def test_missing_file_and_unknown_ending(tmp_path):
    with refused(DataError, code='no_file'):
        data.load(tmp_path / 'nowhere.csv')
    path = tmp_path / 'log.xlsx'
    path.write_bytes(b'PK')
    with refused(DataError, code='no_reader'):
        data.load(path)


def content(N=60):
    t = np.arange(N) / 100
    q = np.stack([np.sin(t), np.cos(t)], axis=1)
    return t, q, 3 * q


MAT = {
    'time': {'variable': 't'},
    'position': {'variable': 'log.q'},
    'torque': {'variable': 'log.v', 'unit': 'V', 'scale': 'gain'},
}


def test_matlab_5_with_a_struct_and_a_gain_in_the_file(tmp_path):
    t, q, tau = content()
    path = tmp_path / 'a.mat'
    savemat(path, {'t': t[:, None], 'log': {'q': q, 'v': tau}, 'gain': [[2.0, 4.0]]})
    run = data.load(path, data.Mapping.model_validate(MAT)).runs[0]
    assert np.array_equal(run.position, q)
    assert np.array_equal(run.torque, tau * [2.0, 4.0])


def test_matlab_73(tmp_path):
    t, q, tau = content()
    path = tmp_path / 'a.mat'
    with h5py.File(path, 'w', userblock_size=512) as file:
        file['t'] = t[None]
        file['log/q'] = q.T
        file['log/v'] = tau.T
        file['gain'] = [[2.0], [4.0]]
    with path.open('r+b') as file:
        file.write(b'MATLAB 7.3 MAT-file')
    run = data.load(path, data.Mapping.model_validate(MAT)).runs[0]
    assert np.array_equal(run.position, q)
    assert np.array_equal(run.torque, tau * [2.0, 4.0])


@pytest.mark.parametrize('keep', [300, 60])
def test_cut_mat_and_npz_are_refused(tmp_path, keep):
    t, q, tau = content(500)
    mat, npz = tmp_path / 'a.mat', tmp_path / 'a.npz'
    savemat(mat, {'time': t, 'position': q, 'torque': tau})
    np.savez(npz, time=t, position=q, torque=tau)
    for path in (mat, npz):
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(DataError, match=path.name) as caught:
            data.load(path)
        assert '\n' not in str(caught.value)


def test_variables_with_plain_names_need_no_mapping(tmp_path):
    t, q, tau = content()
    npz = tmp_path / 'a.npz'
    np.savez(npz, t=t, q=q, tau=tau)
    assert np.array_equal(data.load(npz).runs[0].torque, tau)
    np.savez(npz, angle=q, current=tau)
    with refused(DataError, code='unknown_columns'):
        data.load(npz)
    np.savez(npz, t=t, q=q, tau=tau[:-1])
    with refused(DataError, code='unequal_lengths'):
        data.load(npz)


def test_csv_without_known_names_asks_for_a_mapping(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text(text())
    with refused(DataError, code='unknown_columns'):
        data.load(path)
    path.write_text('time,position.a,torque.b\n' + '0,0,0\n0.1,0,0\n')
    with refused(DataError, code='no_column'):
        data.load(path)


def test_several_files_become_several_runs(tmp_path):
    paths = [tmp_path / 'a.csv', tmp_path / 'b.csv']
    for path in paths:
        path.write_text(text())
    dataset = data.load(paths, MAPPING)
    assert [len(run) for run in dataset.runs] == [100, 100]
    slow = MAPPING.model_copy(update={'rate_hz': 50.0})
    other = tmp_path / 'c.npz'
    t, q, tau = content()
    np.savez(other, time=2 * t, position=q[:, :1], torque=tau[:, :1])
    assert slow.rate_hz == 50.0
    fast = tmp_path / 'd.npz'
    np.savez(fast, time=t, position=q[:, :1], torque=tau[:, :1])
    both = data.load([fast, other])
    assert [round(run.rate, 6) for run in both.runs] == [50.0, 50.0]
    assert 'runs of 50, 100 Hz, resampled to 50 Hz' in both.notes[-1]


def test_the_command_line_prints_one_line_and_exits_with_2(tmp_path, monkeypatch, capsys):
    from robot_id.cli.main import main

    path = tmp_path / 'log.csv'
    path.write_text(text())
    arguments = ['robot-id', 'identify', '--robot', 'emps', '--data', str(path)]
    monkeypatch.setattr('sys.argv', arguments)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    printed = capsys.readouterr().err.strip()
    assert 'give a mapping' in printed
    # A fresh installation compiles its kernels first, and says so.
    lines = [line for line in printed.splitlines() if not line.startswith('compiling kernels')]
    assert len(lines) == 1


def units_below(path, row):
    """Write our own names with a line of units, and half a second in ms and degrees."""
    rows = ''.join(f'{k},{k / 10},{3 * k}\n' for k in range(500))
    path.write_text(f'time,position.a,torque.a\n{row}\n{rows}')
    return path


def test_our_own_names_with_a_line_of_units_are_read_in_these(tmp_path):
    run = data.load(units_below(tmp_path / 'a.csv', '[ms],[deg],[Nm]')).runs[0]
    assert run.time[-1] == pytest.approx(0.499)
    assert run.position[-1, 0] == pytest.approx(np.deg2rad(49.9))
    assert run.torque[-1, 0] == 1497.0
    same = data.load(units_below(tmp_path / 'b.csv', 's,f8,f8')).runs[0]
    assert same.time[-1] == 499.0
    assert same.position[-1, 0] == 49.9


@pytest.mark.parametrize('row', ['[ms],[deg],counts', 'kg,deg,rpm'])
def test_a_line_of_units_that_need_a_mapping_is_refused(tmp_path, row):
    with refused(DataError, code='unknown_columns'):
        data.load(units_below(tmp_path / 'a.csv', row))
