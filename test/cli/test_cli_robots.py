"""The verb `robots`."""

import json

import pytest
from click.testing import CliRunner

from robot_id.cli.main import cli
from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot


def run(*arguments):
    return CliRunner().invoke(cli, ['robots', *map(str, arguments)], env={'COLUMNS': '200'})


def test_list_has_the_shipped_robots(tmp_path):
    result = run('--json', tmp_path / 'list.json')
    assert result.exit_code == 0
    listed = {entry['name']: entry for entry in json.loads((tmp_path / 'list.json').read_text())}
    assert {'emps', 'scara', 'tx40'} <= set(listed)
    assert [listed[name]['base_parameters'] for name in ('emps', 'scara', 'tx40')] == [4, 8, 60]
    assert all(name in result.output for name in listed)


@pytest.mark.parametrize('name', ['emps', 'emps_asymmetric', 'scara', 'tx40'])
def test_one_robot(tmp_path, name):
    result = run(name, '--json', tmp_path / 'robot.json')
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / 'robot.json').read_text())
    robot = load_robot(name)
    assert [entry['name'] for entry in found['base_parameters']] == list(robot.base.names)
    assert [joint['name'] for joint in found['joints']] == list(robot.joint_names)
    assert set(found['loops']) == set(robot.description.loops)
    for entry in found['base_parameters']:
        assert entry['name'] in result.output


def test_groupings_are_printed():
    assert 'ZZ1 + Ia1 + 0.25*M2' in run('scara').output


def test_a_urdf_alone(shared):
    result = run(shared / 'data' / 'ur10e' / 'ur10e.urdf')
    assert result.exit_code == 0
    assert '58 base parameters' in result.output


def test_unknown_robot_is_one_line():
    result = run('tx4')
    assert isinstance(result.exception, DescriptionError)
    assert len(str(result.exception).splitlines()) == 1
    assert "'tx40'" in str(result.exception)
