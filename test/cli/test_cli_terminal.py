"""What the terminal shows: whole numbers, units, short names of methods, the robot of a result."""

import json
import re

import pytest
from click.testing import CliRunner

from robot_id.cli.main import cli
from robot_id.exceptions import OptionError
from robot_id.methods.registry import full_name


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('terminal')
    done = CliRunner().invoke(
        cli, ['simulate', '--robot', 'emps', '--out', str(folder / 'run.csv'), '--seed', '1']
    )
    assert done.exit_code == 0, done.output
    return folder


def run(*words, columns='80'):
    return CliRunner(env={'COLUMNS': columns}).invoke(cli, [str(word) for word in words])


def test_numbers_are_whole_in_narrow_terminals_and_have_units(folder):
    done = run(
        'identify', '--robot', 'emps', '--method', 'wls', '--data', folder / 'run.csv',
        '--json', folder / 'r.json', columns='40',
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    stored = json.loads((folder / 'r.json').read_text())
    assert stored['method'] == 'idim_wls'
    assert '…' not in done.output
    assert '...' not in done.output
    for parameter in stored['parameters']:
        row = next(line for line in done.output.splitlines() if parameter['name'] in line)
        shown = [float(cell) for cell in re.findall(r'[-+]?\d+\.?\d*(?:e[-+]\d+)?', row)]
        assert any(value == pytest.approx(parameter['value'], rel=1e-4) for value in shown)
        assert f' {parameter["unit"]} ' in row
    line = next(text for text in done.output.splitlines() if 'coulomb_slope' in text)
    assert 'from the data: sign(dq);' in line or 'from the data: slope ' in line


def test_the_robot_of_a_result_is_known_to_validate_and_export(folder):
    if not (folder / 'r.json').exists():
        run(
            'identify',
            '--robot',
            'emps',
            '--data',
            folder / 'run.csv',
            '--json',
            folder / 'r.json',
        )
    done = run('validate', '--params', folder / 'r.json', '--data', folder / 'run.csv')
    assert done.exit_code == 0, done.output
    done = run('export', folder / 'r.json', '--format', 'urdf', '--out', folder / 'arm.urdf')
    assert done.exit_code == 0, done.output
    done = run('validate', '--params', 'urdf', '--data', folder / 'run.csv')
    assert done.exit_code != 0


@pytest.mark.parametrize(
    ('short', 'name'),
    [('wls', 'idim_wls'), ('IDIM-WLS', 'idim_wls'), ('iv', 'idim_iv'), ('ekf', 'ekf')],
)
def test_short_names_of_methods(short, name):
    assert full_name(short) == name


def test_an_unknown_method_is_refused():
    with pytest.raises(OptionError) as caught:
        full_name('lms')
    assert caught.value.key == 'method'
