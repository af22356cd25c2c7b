"""The set-up: which ROS it takes, what it refuses, when it has nothing to do."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUP = ROOT / 'tools/setup'


@pytest.fixture
def setup_module(monkeypatch):
    """Import modules of tools/setup without leaving their plain names behind."""
    import importlib

    monkeypatch.syspath_prepend(str(SETUP))
    names = [path.stem for path in SETUP.glob('[a-z]*.py')]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def fake_ros(tmp_path):
    """A prefix with an rclpy that imports, as a sourced installation has one."""
    site = tmp_path / 'opt/ros/jazzy/lib/python3/site-packages'
    for folder in ('rclpy', 'rclpy/impl'):
        (site / folder).mkdir(parents=True)
        (site / folder / '__init__.py').touch()
    (site / 'rclpy/impl/implementation_singleton.py').write_text('rclpy_implementation = None\n')
    prefix = tmp_path / 'opt/ros/jazzy'
    environment = {
        'PATH': os.environ['PATH'],
        'ROS_DISTRO': 'jazzy',
        'AMENT_PREFIX_PATH': str(prefix),
        'LD_LIBRARY_PATH': str(prefix / 'lib'),
        'PYTHONPATH': str(site),
    }
    return prefix, environment


# Outside of .venv; on Python 3.10 the base of a virtual environment is known by its link only.
BARE = os.path.realpath(getattr(sys, '_base_executable', sys.executable))


def test_no_ros_in_the_shell_means_wheels(setup_module, tmp_path):
    ros = setup_module('ros')
    for environment in ({}, {'ROS_DISTRO': 'jazzy'}, {'AMENT_PREFIX_PATH': str(tmp_path)}):
        assert ros.choose(BARE, tmp_path, environment) == ros.WHEELS


def test_our_own_environment_does_not_count_as_a_sourced_ros(setup_module, tmp_path):
    ros = setup_module('ros')
    (tmp_path / 'pyvenv.cfg').touch()
    environment = {'ROS_DISTRO': 'jazzy', 'AMENT_PREFIX_PATH': str(tmp_path)}
    assert ros.choose(BARE, tmp_path / '.venv', environment) == ros.WHEELS


@pytest.mark.parametrize('distro', ['jazzy', 'kilted', 'rolling', 'a_later_one'])
def test_a_sourced_ros_is_used(setup_module, fake_ros, tmp_path, distro):
    ros = setup_module('ros')
    prefix, environment = fake_ros
    chosen = ros.choose(BARE, tmp_path, {**environment, 'ROS_DISTRO': distro})
    assert chosen == ros.Ros(distro, True, (str(prefix),))
    remembered = ros.to_remember(chosen, tmp_path / '.venv', environment)
    assert remembered['paths']['AMENT_PREFIX_PATH'] == [str(tmp_path / '.venv'), str(prefix)]
    assert remembered['paths']['PYTHONPATH'] == [environment['PYTHONPATH']]
    assert remembered['values']['ROS_DISTRO'] == 'jazzy'


def test_an_old_ros_and_one_of_another_python_are_refused(setup_module, fake_ros, tmp_path):
    ros, machine = setup_module('ros'), setup_module('machine')
    _, environment = fake_ros
    with pytest.raises(machine.SetupError, match=r'ROS humble is sourced.*Jazzy or newer'):
        ros.choose(BARE, tmp_path, {**environment, 'ROS_DISTRO': 'humble'})
    environment['PYTHONPATH'] = str(tmp_path)
    with pytest.raises(machine.SetupError, match=r'cannot import its rclpy.*PYTHON='):
        ros.choose(BARE, tmp_path, environment)


def test_hook_adds_what_is_missing_and_only_that(setup_module):
    missing = setup_module('hook').missing
    remembered = {
        'paths': {'LD_LIBRARY_PATH': ['/v/lib', '/v/libs']},
        'values': {'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp'},
    }
    assert missing({}, remembered) == {
        'LD_LIBRARY_PATH': '/v/lib:/v/libs',
        'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp',
    }
    mine = {'LD_LIBRARY_PATH': '/mine:/v/libs', 'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp'}
    assert missing(mine, remembered) == {'LD_LIBRARY_PATH': '/v/lib:/mine:/v/libs'}
    assert missing({**mine, **missing(mine, remembered)}, remembered) == {}


def copy_of_setup(tmp_path: Path) -> Path:
    """Return a copy of what the set-up reads, to run it where it can do no harm."""
    clone = tmp_path / 'clone'
    for name in ('tools', 'requirements', 'resource'):
        shutil.copytree(ROOT / name, clone / name)
    for name in ('Makefile', 'setup.py', 'setup.cfg', 'package.xml', 'colcon_defaults.yaml'):
        shutil.copy(ROOT / name, clone)
    (clone / 'robot_id_msgs').mkdir()
    return clone


def make_setup(clone: Path, path: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # Not what the present ROS needs: the machine under test has none.
    environment = {'PATH': path, 'HOME': str(clone), **variables}
    return subprocess.run(
        ['make', '-s', 'setup'],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def path_with(folder: Path, *programs: str) -> str:
    """Return a PATH on which there are only these programs."""
    folder.mkdir()
    for program in programs:
        found = BARE if program == 'python3' else shutil.which(program)
        if found:
            (folder / program).symlink_to(found)
    return str(folder)


def assert_one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    # make adds its own 'Error 1' line.
    lines = [line for line in done.stderr.splitlines() if not line.startswith('make')]
    assert done.returncode != 0
    assert done.stdout == ''
    assert len(lines) == 1, lines
    assert lines[0].startswith('setup: ')
    assert all(word in lines[0] for word in words), lines[0]


def test_machine_without_a_compiler_gets_one_line(tmp_path):
    path = path_with(tmp_path / 'bin', 'make', 'sh', 'python3', 'echo')
    done = make_setup(copy_of_setup(tmp_path), path)
    assert_one_line(done, 'C++ compiler', 'apt install', 'g++')
    assert not (tmp_path / 'clone/.venv').exists()


def test_compiler_that_does_not_compile_gets_one_line(tmp_path):
    path = path_with(tmp_path / 'bin', 'make', 'sh', 'python3', 'echo', 'gcc')
    (tmp_path / 'bin/g++').symlink_to(shutil.which('false'))
    assert_one_line(make_setup(copy_of_setup(tmp_path), path), 'g++ cannot compile')


def test_machine_without_python_gets_one_line(tmp_path):
    path = path_with(tmp_path / 'bin', 'make', 'sh', 'echo')
    assert_one_line(make_setup(copy_of_setup(tmp_path), path), 'no python3', 'apt install python3')


def test_missing_headers_are_named(setup_module, monkeypatch, tmp_path):
    machine = setup_module('machine')
    monkeypatch.setattr(machine.sysconfig, 'get_paths', lambda: {'include': str(tmp_path)})
    with pytest.raises(machine.SetupError, match=r'headers of Python 3\.\d+ .*-dev'):
        machine.check(wheels=True)


@pytest.mark.parametrize('version', [(3, 9), (3, 8), (3, 15)])
def test_unsuitable_python_gets_one_line(version):
    code = (
        'import sys, runpy, collections\n'
        'kind = collections.namedtuple("v", "major minor micro")\n'
        f'sys.version_info = kind({version[0]}, {version[1]}, 1)\n'
        f'runpy.run_path({str(SETUP)!r}, run_name="__main__")\n'
    )
    done = subprocess.run(
        [BARE, '-c', code], capture_output=True, text=True, timeout=30, check=False
    )
    assert_one_line(
        done, 'needs Python 3.10 to 3.14', f'Python {version[0]}.{version[1]}', 'PYTHON='
    )


def old_python() -> str | None:
    """Return a real Python 3.9 or older of this machine, if there is one."""
    for name in ('python3.9', 'python3.8', 'python3.7', 'python3.6'):
        found = shutil.which(name)
        if found and not subprocess.run([found, '-c', ''], capture_output=True).returncode:
            return found
    return None


@pytest.mark.skipif(old_python() is None, reason='no Python 3.9 or older on this machine')
def test_real_old_python_gets_one_line(tmp_path):
    done = make_setup(copy_of_setup(tmp_path), os.environ['PATH'], PYTHON=old_python() or '')
    assert_one_line(done, 'needs Python 3.10 to 3.14')


def test_package_that_cannot_be_had_is_named(setup_module, tmp_path):
    command, machine = setup_module('command'), setup_module('machine')
    name, log = 'a-package-that-does-not-exist', tmp_path / 'log/pip.log'
    pip = [sys.executable, '-m', 'pip', 'install', '--no-index', '--isolated', f'{name}==1.0']
    with pytest.raises(machine.SetupError, match=rf'packages: failed .*{name}.*pip\.log'):
        command.run('packages', pip, log, dict(os.environ), tmp_path)
    assert name in log.read_text()


def test_lock_pins_every_line_and_names_no_registry():
    lines = (ROOT / 'requirements/lock.txt').read_text().splitlines()
    entries = [line for line in lines if not line.startswith('#')]
    assert len(entries) > 150
    assert all('==' in line and '://' not in line and line[0] != '-' for line in entries)


def test_lock_holds_all_that_is_asked_for():
    import re

    locked = {
        line.split('==')[0] for line in (ROOT / 'requirements/lock.txt').read_text().splitlines()
    }
    for path in (ROOT / 'requirements').glob('*.in'):
        for line in path.read_text().splitlines():
            if line and not line.startswith('#'):
                name = re.split(r'[\[<>=; ]', line)[0]
                assert re.sub('[-_.]+', '-', name).lower() in locked, f'{path.name}: {name}'


@pytest.mark.ros
def test_installed_environment_is_up_to_date():
    if not (ROOT / '.venv/setup.json').exists():
        pytest.skip('robot_id runs from a colcon workspace, not from .venv')
    state = json.loads((ROOT / '.venv/setup.json').read_text())
    assert {'environment', 'hook', 'messages', 'package', 'kernels', 'ros'} <= state.keys()
    done = subprocess.run(
        ['make', '-s', 'setup'], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == 'setup: .venv is up to date\n', done


def test_a_python_that_this_machine_has_not_keeps_its_lines_of_the_lock():
    sys.path.insert(0, str(ROOT / 'tools'))
    try:
        lock = importlib.import_module('lock')
    finally:
        sys.path.pop(0)
    text = (ROOT / 'requirements/lock.txt').read_text()
    known = lock.present(text)
    oldest, newest = next(iter(known)), list(known)[-1]
    assert text == lock.HEADER.format(first=oldest, last=newest) + '\n'.join(
        [*lock.merge(known), '']
    )
    other = {**known, oldest: {**known[oldest], 'numpy': '1.0'}}
    lines = lock.merge(other)
    assert f"numpy==1.0 ; python_version == '{oldest}'" in lines
    assert lock.present('\n'.join([text.splitlines()[0], *lines])) == other
