"""The verbs identify, validate and methods: what they print and write, and how they refuse."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data, dynamics
from robot_id.cli.main import cli, main
from robot_id.data import Dataset, Run
from robot_id.robot import load_robot


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Two recordings of the SCARA with its true parameters and a little noise."""
    directory = tmp_path_factory.mktemp('recordings')
    robot = load_robot('scara')
    t = np.arange(4000) / 500
    for k, name in enumerate(('fit', 'other')):
        w = 2 * np.pi * np.array([0.4, 0.7]) * (1 + 0.3 * k)
        q = np.sin(t[:, None] * w) + 0.4 * np.sin(2.3 * t[:, None] * w)
        dq, ddq = np.gradient(q, 1 / 500, axis=0), None
        ddq = np.gradient(dq, 1 / 500, axis=0)
        tau = dynamics.inverse_dynamics(robot, robot.truth(), q, dq, ddq)
        tau += 0.01 * tau.std(axis=0) * np.random.default_rng(k).normal(size=tau.shape)
        dataset = Dataset(robot.joint_names, (Run(t, q, tau),), name)
        data.save(dataset, directory / f'{name}.csv')
    return directory


def call(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=True)


def refused(monkeypatch, capsys, *arguments):
    """Run as the installed command does; return the exit code and the lines on stderr."""
    monkeypatch.setattr(sys, 'argv', ['robot-id', *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code, capsys.readouterr().err.strip()


def test_identify_then_validate(folder, tmp_path):
    file = tmp_path / 'r.json'
    plots = tmp_path / 'pictures'
    done = call(
        'identify', '--robot', 'scara', '--data', folder / 'fit.csv', '--set', 'cutoff_hz=40',
        '--set', 'decimation=5', '--json', file, '--plot', plots,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for word in ('ZZ1R', 'value', 'deviation', 'percent', 'essential', 'condition number',
                 'cut-off 40 Hz', '1 sample in 5', 'shoulder', 'elbow'):  # fmt: skip
        assert word in done.output
    written = json.loads(file.read_text())
    assert written['schema'] == 1
    assert written['method'] == 'idim_wls'
    assert written['options']['cutoff_hz'] == 40
    assert written['relative_error_percent'] < 3
    robot = load_robot('scara')
    values = {p['name']: p['value'] for p in written['parameters']}
    assert values['ZZ1R'] == pytest.approx(robot.truth()[robot.base.names.index('ZZ1R')], rel=0.02)
    keys = {'name', 'value', 'unit', 'std', 'percent_std', 'essential'}
    assert set(written['parameters'][0]) == keys
    pictures = sorted(plots.glob('*.png'))
    assert [p.name for p in pictures] == ['torque_1_shoulder.png', 'torque_2_elbow.png']
    assert all(p.read_bytes().startswith(b'\x89PNG') for p in pictures)

    errors = tmp_path / 'v.json'
    done = call(
        'validate', '--robot', 'scara', '--params', file, '--data', folder / 'other.csv',
        '--json', errors, '--plot', tmp_path / 'more',
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert 'cut-off 40 Hz' in done.output
    written = json.loads(errors.read_text())
    assert written['schema'] == 1
    assert written['torque_relative_error_percent'] < 4
    assert len(written['per_joint']) == 2
    assert 'simulation' in written
    assert len(list((tmp_path / 'more').glob('*.png'))) == 2


def test_several_recordings_are_one_data_set(folder, tmp_path):
    equations = []
    for names in (['fit.csv'], ['fit.csv', 'other.csv']):
        file = tmp_path / 'r.json'
        parts = [a for name in names for a in ('--data', folder / name)]
        options = ('--set', 'rest_band=0', '--json', file)
        assert call('identify', '--robot', 'scara', *parts, *options).exit_code == 0
        equations.append(json.loads(file.read_text())['extras']['equations'])
    assert equations[1] == 2 * equations[0]


def test_essential_parameters_are_marked(folder):
    done = call(
        'identify', '--robot', 'scara', '--data', folder / 'fit.csv', '--set', 'essential=true',
        '--set', 'cutoff_hz=40', '--set', 'decimation=20',
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert 'essential parameters, removed' in done.output


def test_methods_are_listed_with_their_options(tmp_path):
    done = call('methods', '--json', tmp_path / 'm.json')
    for name in ('idim_ols', 'idim_wls', 'idim_irls', 'idim_tls'):
        assert name in done.output
    listed = json.loads((tmp_path / 'm.json').read_text())
    assert listed['idim_irls']['options']['loss']['default'] == 'huber'
    done = call('methods', 'idim_irls')
    for word in ('loss', 'huber', 'cutoff_hz', 'rest_band', 'max_iterations'):
        assert word in done.output


def result_for(folder, tmp_path):
    file = tmp_path / 'good.json'
    assert (
        call(
            'identify', '--robot', 'scara', '--data', folder / 'fit.csv', '--json', file
        ).exit_code
        == 0
    )
    return file


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'--robot': 'skara'}, ["'skara'", "'scara'"]),
        ({'--robot': 'nowhere.yaml'}, ['nowhere.yaml']),
        ({'--method': 'idim_wsl'}, ["'idim_wsl'", "'idim_wls'"]),
        ({'--set': 'cutof_hz=3'}, ["'cutof_hz'", "'cutoff_hz'"]),
        ({'--set': 'cutoff_hz=fast'}, ['cutoff_hz', 'fast']),
        ({'--set': 'cutoff_hz=9999'}, ['cutoff_hz', '250']),
        ({'--set': 'decimation=0'}, ['decimation', '0']),
        ({'--set': 'filter=bessel'}, ['filter', 'bessel', 'butterworth']),
        ({'--set': 'rest_band=1,2,3'}, ['rest_band', '3', '2']),
        ({'--set': 'rest_band=99'}, ['equations', 'rest band']),
        ({'--set': 'cutoff_hz'}, ['cutoff_hz', 'key=value']),
        ({'--data': 'missing.csv'}, ['missing.csv', 'no such file']),
        ({'--robot': 'tx40'}, ['joint']),
        ({'--mapping': 'no_such_mapping'}, ['no_such_mapping']),
        ({'--json': '/nonexistent/r.json'}, ['/nonexistent/r.json', 'cannot write']),
    ],
)
def test_identify_refuses_in_one_line(folder, monkeypatch, capsys, changes, words):
    arguments = {'--robot': 'scara', '--data': folder / 'fit.csv'} | changes
    code, message = refused(
        monkeypatch, capsys, 'identify', *(a for pair in arguments.items() for a in pair)
    )
    last = message.splitlines()[-1]
    assert code == 2
    assert 'Traceback' not in message
    assert all(word in last for word in words), message
    errors = [line for line in message.splitlines() if not line.startswith('warning')]
    assert len(errors) == 1, message


def test_validate_refuses_in_one_line(folder, tmp_path, monkeypatch, capsys):
    good = result_for(folder, tmp_path)
    text = json.loads(good.read_text())
    renamed = json.loads(good.read_text())
    renamed['parameters'][0]['name'] = 'XX9'
    empty = json.loads(good.read_text())
    empty['parameters'][0]['value'] = None
    files = {
        'absent.json': None,
        'text.json': 'not json',
        'list.json': '[1, 2]',
        'schema.json': json.dumps(text | {'schema': 99}),
        'foreign.json': json.dumps(renamed),
        'empty.json': json.dumps(empty),
    }
    capsys.readouterr()
    for name, content in files.items():
        file = tmp_path / name
        if content is not None:
            file.write_text(content)
        code, message = refused(
            monkeypatch, capsys, 'validate', '--robot', 'scara', '--params', file,
            '--data', folder / 'other.csv',
        )  # fmt: skip
        assert code == 2, name
        assert len(message.splitlines()) == 1, message
    code, message = refused(
        monkeypatch, capsys, 'validate', '--robot', 'tx40', '--params', good,
        '--data', folder / 'other.csv',
    )  # fmt: skip
    assert code == 2
    code, message = refused(
        monkeypatch, capsys, 'validate', '--robot', 'scara', '--params', good,
        '--data', folder / 'other.csv', '--set', 'essential=true',
    )  # fmt: skip
    assert code == 2
    assert "no option 'essential'" in message


def test_colour_is_left_out_where_nobody_sees_it(folder):
    command = [sys.executable, '-m', 'robot_id.cli.main', 'identify', '--robot', 'scara']
    command += ['--data', str(folder / 'fit.csv')]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert '\x1b' not in done.stdout + done.stderr
    assert 'ZZ1R' in done.stdout
