"""`export --format controller`: the core compiles, passes its test, and the files agree."""

import ast
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
import yaml
from exported_folder import exported

from robot_id.export.c_code import identifier

CXX = ('g++', '-std=c++17', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror', '-pthread')
SANITISED = ('-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')
pytestmark = pytest.mark.skipif(shutil.which('g++') is None, reason='no g++')


@pytest.fixture(params=['scara', 'tx40', 'urdf'], scope='module')
def package(request, tmp_path_factory):
    """Return robot, folder and the name in C."""
    robot, _, out = exported(tmp_path_factory.mktemp('controller'), request.param, 'controller')
    return robot, out, identifier(robot.name)


def run(folder, *words):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def build(folder, prefix, program, options):
    """Compile the core with its test and return the outcome of the test."""
    model = f'model/{prefix}_model.c'
    done = run(folder, 'gcc', '-std=c99', '-O1', '-Imodel', '-c', model, '-o', f'{program}.o')
    assert done.returncode == 0, done.stderr
    sources = ('src/core.cpp', 'test/test_core.cpp', f'{program}.o')
    done = run(folder, *CXX, *options, '-Iinclude', '-Imodel', *sources, '-o', program)
    assert done.returncode == 0, done.stderr
    return run(folder, f'./{program}')


def test_core_is_right_and_clean(package):
    _, out, prefix = package
    done = build(out, prefix, 'clean', SANITISED)
    assert (done.returncode, done.stderr) == (0, ''), done.stdout


def test_core_notices_a_wrong_model(package):
    _, out, prefix = package
    if prefix != 'scara':
        pytest.skip('one robot will do')
    model = out / f'model/{prefix}_model.c'
    right = model.read_text()
    model.write_text(right.replace('tau[0] = ', 'tau[0] = 1e-6 + ', 1))
    assert build(out, prefix, 'wrong', ('-O0',)).returncode == 1
    model.write_text(right)


def test_files_agree_on_names_joints_and_limits(package):
    robot, out, prefix = package
    name = f'{prefix}_model_controller'
    made = {path.relative_to(out).as_posix() for path in out.rglob('*') if path.is_file()}
    assert {'package.xml', 'CMakeLists.txt', 'README.md', f'include/{name}/core.hpp'} <= made
    assert ElementTree.parse(out / 'package.xml').findtext('name') == name
    plugin = ElementTree.parse(out / 'controller_plugin.xml').getroot()
    assert plugin.get('path') == name
    assert plugin.find('class').get('type') == f'{name}::Controller'
    declared = yaml.safe_load((out / 'src/controller_parameters.yaml').read_text())[name]
    assert declared['joints']['default_value'] == list(robot.joint_names)
    assert all(entry['description'] for entry in declared.values())
    for lists in ('position_gains', 'velocity_gains', 'torque_limits'):
        assert len(declared[lists]['default_value']) == robot.n
    assert declared['torque_limits']['default_value'] == list(robot.limits.torque)
    config = yaml.safe_load((out / 'config/controllers.yaml').read_text())
    types = config['controller_manager']['ros__parameters']
    assert types[f'{prefix}_controller'] == {'type': f'{name}/Controller'}
    given = config[f'{prefix}_controller']['ros__parameters']
    assert set(given) <= set(declared)
    mock = ElementTree.parse(out / 'config/mock.urdf').getroot()
    assert [joint.get('name') for joint in mock.find('ros2_control').iter('joint')] == list(
        robot.joint_names
    )
    ast.parse((out / 'launch/controller.launch.py').read_text())
    for path in made:
        if not path.endswith(('.o', 'clean', 'wrong')):
            text = (out / path).read_text()
            assert f'@{"PACKAGE"}@' not in text
            assert not any(f'@{key}@' in text for key in ('N', 'JOINTS', 'LIMITS', 'PREFIX'))
