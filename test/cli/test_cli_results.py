"""The verbs export and compare, and how much is printed."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from robot_id import __version__
from robot_id.cli import main as entry
from robot_id.cli.main import cli
from robot_id.methods.result import Result
from robot_id.robot import load_robot


def made(robot='scara', method='idim_wls', shift=0.0, **changes):
    """Build a result around the truth of a shipped robot."""
    model = load_robot(robot)
    values = model.truth() * (1.0 + shift)
    covariance = np.diag((0.01 * np.abs(values)) ** 2)
    fields = {'relative_error_percent': 2.0, 'condition_number': 30.0, 'elapsed_s': 0.1}
    fields |= {'verdict': 'usable'} | changes
    return Result(model.name, method, model.base.names, values, covariance, **fields)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'r.json'
    made().save(path)
    return path


def call(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def refused(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, 'argv', ['robot-id', *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        entry.main()
    assert stop.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_yaml_and_csv_hold_every_digit(file):
    truth = dict(zip(load_robot('scara').base.names, load_robot('scara').truth()))
    content = yaml.safe_load(call('export', file).output)
    assert content['robot'] == 'scara'
    assert {n: p['value'] for n, p in content['parameters'].items()} == truth
    rows = list(csv.DictReader(io.StringIO(call('export', file, '--format', 'csv').output)))
    assert {row['name']: float(row['value']) for row in rows} == truth
    assert float(rows[0]['percent_std']) == pytest.approx(1.0)


def test_a_parameter_file_leads_to_the_same_values(file, tmp_path):
    out = tmp_path / 'ctc.yaml'
    done = call('export', file, '--format', 'ros-params', '--out', out)
    assert done.exit_code == 0, done.output
    content = yaml.safe_load(out.read_text())
    settings = content['/**/ctc_controller']['ros__parameters']
    assert settings['robot'] == 'scara'
    assert np.array_equal(Result.load(settings['parameters']).values, load_robot('scara').truth())
    assert 'ZZ1R = 3.45' in out.read_text()


def test_export_refuses(file, tmp_path, monkeypatch, capsys):
    bad = tmp_path / 'bad.json'
    made(converged=False).save(bad)
    assert 'did not converge' in refused(
        monkeypatch, capsys, 'export', bad, '--format', 'ros-params'
    )
    other = tmp_path / 'other.json'
    content = json.loads(file.read_text()) | {'robot': 'my_arm'}
    other.write_text(json.dumps(content))
    line = refused(monkeypatch, capsys, 'export', other, '--format', 'ros-params')
    assert 'my_arm' in line
    assert '--robot' in line
    line = refused(
        monkeypatch, capsys, 'export', file, '--format', 'ros-params', '--robot', 'emps'
    )
    assert 'emps' in line
    assert 'no such file' in refused(monkeypatch, capsys, 'export', 'none.json').lower()
    assert 'no directory' in refused(
        monkeypatch, capsys, 'export', file, '--out', tmp_path / 'no' / 'r.yaml'
    )


@pytest.mark.parametrize(
    ('name', 'begins'),
    [('a.csv', 'name,'), ('a.urdf', '<?xml'), ('a.yaml', '# 8 base parameters')],
)
def test_the_ending_of_the_file_is_its_format(file, tmp_path, name, begins):
    done = call('export', file, '--out', tmp_path / name)
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_text().startswith(begins)


def test_an_ending_without_a_format_is_refused(monkeypatch, capsys, file, tmp_path):
    line = refused(monkeypatch, capsys, 'export', file, '--out', tmp_path / 'a.txt')
    assert "no format for '.txt'" in line
    assert not (tmp_path / 'a.txt').exists()


def test_one_result_is_nothing_to_compare(monkeypatch, capsys, file):
    assert 'at least two results' in refused(monkeypatch, capsys, 'compare', file)


def test_compare_counts_the_deviations(file, tmp_path):
    b = tmp_path / 'b.json'
    made(method='didim', shift=0.10).save(b)
    out, picture = tmp_path / 'c.json', tmp_path / 'c.png'
    done = call('compare', file, b, '--json', out, '--plot', picture)
    assert done.exit_code == 0, done.output
    for word in ('idim_wls', 'didim', 'ZZ1R', 'apart', '!', 'error %'):
        assert word in done.output
    entries = json.loads(out.read_text())['results']
    expected = 0.10 / np.hypot(0.01, 0.011)
    for p in entries[1]['parameters'].values():
        assert p['deviations_from_first'] == pytest.approx(expected)
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_compare_labels_results_of_one_method_by_file(file, tmp_path):
    b = tmp_path / 'monday.json'
    made(shift=0.001).save(b)
    printed = call('compare', file, b).output
    assert 'monday' in printed
    assert '!' not in printed


def test_compare_refuses(file, tmp_path, monkeypatch, capsys):
    other = tmp_path / 'emps.json'
    made('emps').save(other)
    line = refused(monkeypatch, capsys, 'compare', file, other)
    assert 'different robots' in line
    assert 'emps, scara' in line
    assert 'at least two' in refused(monkeypatch, capsys, 'compare', file)
    assert '.png' in refused(monkeypatch, capsys, 'compare', file, file, '--plot', 'x.doc')


@pytest.mark.parametrize('where', ['before', 'after'])
def test_quiet_prints_no_table_but_warnings(file, tmp_path, where):
    bad = tmp_path / 'bad.json'
    made(method='didim', converged=False).save(bad)
    flags = (['-q'], []) if where == 'before' else ([], ['--quiet'])
    done = CliRunner().invoke(cli, [*flags[0], 'compare', str(file), str(bad), *flags[1]])
    assert done.exit_code == 0
    assert done.stdout == ''
    assert 'did not converge' in done.stderr
    assert 'ZZ1R' in call('compare', file, bad).stdout


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'FORCE_COLOR')}
    return env | {'COLUMNS': '120'} | more


def run(*arguments, **env):
    command = [sys.executable, '-m', 'robot_id.cli.main', *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**env))


def test_no_color_is_obeyed(file, tmp_path):
    bad = tmp_path / 'bad.json'
    made(method='didim', converged=False).save(bad)
    coloured = run('compare', file, bad, FORCE_COLOR='1', TERM='xterm')
    assert '\x1b[33m' in coloured.stderr
    plain = run('compare', file, bad, FORCE_COLOR='1', NO_COLOR='1', TERM='xterm')
    assert '\x1b[33m' not in plain.stderr
    assert 'did not converge' in plain.stderr


def test_verbose_says_where_an_error_comes_from(tmp_path):
    done = run('-v', 'export', tmp_path / 'none.json')
    assert done.returncode == 2
    assert 'Traceback' in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith('robot-id: ')


def test_version_and_completion():
    assert __version__ in call('--version').output
    command = [sys.executable, '-c', 'import sys; sys.argv = ["robot-id"]; '
               'from robot_id.cli.main import main; main()']  # fmt: skip
    source = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment(_ROBOT_ID_COMPLETE='zsh_source'),
    )
    assert 'compdef' in source.stdout
    offered = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment(
            _ROBOT_ID_COMPLETE='zsh_complete', COMP_WORDS='robot-id ex', COMP_CWORD='1'
        ),
    )
    assert {'excite', 'export'} <= set(offered.stdout.split())
    assert 'identify' not in offered.stdout
