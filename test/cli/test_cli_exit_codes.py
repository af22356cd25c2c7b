"""Findings and verdict reach stderr and the exit code; no command replaces its own input."""

import json
import os

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data, dynamics, files
from robot_id.cli.main import cli
from robot_id.data import Dataset, Run
from robot_id.exceptions import DataError, OptionError
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.tasks.payload.attachment import known_part

LONG = 'é' * 125 + '.json'


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    """The SCARA with its true torques, and with their signs turned."""
    folder = tmp_path_factory.mktemp('recordings')
    robot = load_robot('scara')
    t = np.arange(4000) / 500
    w = 2 * np.pi * np.array([0.4, 0.7])
    q = np.sin(t[:, None] * w) + 0.4 * np.sin(2.3 * t[:, None] * w)
    dq = np.gradient(q, 1 / 500, axis=0)
    tau = dynamics.inverse_dynamics(robot, robot.truth(), q, dq, np.gradient(dq, 1 / 500, axis=0))
    tau += 0.01 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    for name, sign in (('good', 1.0), ('turned', -1.0)):
        data.save(Dataset(robot.joint_names, (Run(t, q, sign * tau),)), folder / f'{name}.csv')
    return folder


def call(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_quiet_hides_neither_a_finding_nor_the_verdict(recordings, tmp_path):
    words = ('identify', '-q', '--robot', 'scara', '--data', recordings / 'turned.csv')
    done = call(*words, '--json', tmp_path / 'r.json')
    assert done.exit_code == 3
    assert done.stdout == ''
    assert 'finding: torque_sign' in done.stderr
    assert 'verdict: do not use' in done.stderr
    assert json.loads((tmp_path / 'r.json').read_text())['verdict'] == 'do_not_use'
    checked = call('check', '-q', '--robot', 'scara', '--data', recordings / 'turned.csv')
    assert (checked.exit_code, checked.stdout) == (1, '')
    assert 'torque_sign' in checked.stderr
    other = call('validate', '-q', '--robot', 'scara', '--params', tmp_path / 'r.json',
                 '--data', recordings / 'good.csv')  # fmt: skip
    assert other.exit_code == 3
    assert 'do not use' in other.stderr


def test_a_usable_result_exits_0_and_its_numbers_are_whole_in_a_pipe(recordings, tmp_path):
    robot = load_robot('scara')
    done = call('identify', '--robot', 'scara', '--data', recordings / 'good.csv',
                '--json', tmp_path / 'r.json')  # fmt: skip
    assert done.exit_code == 0, done.output
    result = Result.load(tmp_path / 'r.json')
    rows = [line.split('│') for line in done.stdout.splitlines() if line.startswith('│')]
    shown = {row[1].strip(): row[2].strip() for row in rows if len(row) > 5}
    assert set(shown) == set(robot.base.names)
    for name, text in shown.items():
        assert float(text) == pytest.approx(result[name], rel=1e-4)
    files_of = [tmp_path / f'{"n" * 30}{k}.json' for k in range(3)]
    for file in files_of:
        result.save(file)
    compared = call('compare', *files_of)
    assert '…' not in compared.stdout
    assert all(f'{value:.4g}' in compared.stdout for value in result.values)


@pytest.mark.parametrize('link', [None, os.symlink, os.link], ids=['same', 'symbolic', 'hard'])
def test_no_command_replaces_its_own_input(recordings, tmp_path, link):
    source = tmp_path / 'in.csv'
    source.write_bytes((recordings / 'good.csv').read_bytes())
    out = source
    if link is not None:
        out = tmp_path / 'out.json'
        link(source, out)
    before = source.read_bytes()
    for verb in ('identify', 'check'):
        done = call(verb, '--robot', 'scara', '--data', source, '--json', out)
        assert isinstance(done.exception, DataError)
        assert 'reads it' in str(done.exception)
    assert source.read_bytes() == before


def test_export_does_not_replace_the_urdf_of_a_robot_file(tmp_path):
    model = load_robot('scara')
    urdf = tmp_path / 'arm.urdf'
    urdf.write_bytes(model.urdf.read_bytes())
    (tmp_path / 'arm.yaml').write_text('name: arm\nurdf: arm.urdf\n')
    robot = load_robot(tmp_path / 'arm.yaml')
    b = len(robot.base)
    result = Result('arm', 'm', robot.base.names, np.ones(b), np.eye(b), verdict='usable')
    result.save(tmp_path / 'r.json')
    done = call('export', tmp_path / 'r.json', '--robot', tmp_path / 'arm.yaml', '--out', urdf)
    assert isinstance(done.exception, DataError)
    assert urdf.read_bytes() == model.urdf.read_bytes()


def test_the_longest_name_is_written_and_kept(tmp_path):
    path = tmp_path / LONG
    assert len(os.fsencode(path.name)) == files.LONGEST_NAME
    for text in ('one', 'two'):
        files.write_text(path, text, keep_previous=True)
    assert path.read_text() == 'two'
    assert files.backup_of(path).read_text() == 'one'
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    'text', ['[' * 100_000, '{"standard": 3}', '{"standard": {}}', '[]', 'null', '9' * 5000, '"']
)
def test_a_known_part_of_any_content_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / 'k.json'
    path.write_text(text)
    with pytest.raises(DataError):
        known_part(str(path))


def test_known_numbers_are_bounded():
    for text in ('1e308,1e308,0,0', 'nan,0,0,0', '1,2,3'):
        with pytest.raises(OptionError):
            known_part(text)


def test_a_simulated_load_is_weighed(tmp_path):
    wanted = {'mass': 1.5, 'centre_x': 0.2, 'centre_y': 0.05}
    for name, more in (('empty', ()), ('tool', ('--payload', '1.5,0.2,0.05,0'))):
        done = call('simulate', '--robot', 'scara', '--seed', len(more), *more, '--out',
                    tmp_path / f'{name}.csv')  # fmt: skip
        assert done.exit_code == 0, done.output
    done = call('payload', '--robot', 'scara', '--unloaded', tmp_path / 'empty.csv', '--loaded',
                tmp_path / 'tool.csv', '--no-check', '--json', tmp_path / 'p.json')  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / 'p.json').read_text())
    pairs = {'mass': found['mass'], 'centre_x': found['centre'][0], 'centre_y': found['centre'][1]}
    for name, pair in pairs.items():
        assert abs(pair['value'] - wanted[name]) < 4.0 * pair['std'] < 0.1 * wanted[name], name


def test_files_that_a_shell_listed_are_told_how_to_be_given():
    done = CliRunner().invoke(cli, ['check', '--robot', 'emps', '--data', 'a.csv', 'b.csv'])
    assert done.exit_code == 2
    assert 'b.csv' in done.output
    assert '--data FIRST --data SECOND' in done.output
