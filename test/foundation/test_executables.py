"""Executables work from any folder, in a shell that has sourced nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes]

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / '.venv'
BARE = {'PATH': os.defpath, 'HOME': os.environ.get('HOME', '/'), 'LANG': 'C.UTF-8'}
SHARED_VARIABLES = ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE')


@pytest.fixture
def venv() -> Path:
    if Path(sys.prefix) != VENV:
        pytest.skip('robot_id runs from a colcon workspace, not from .venv')
    return VENV


def run(command: list, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**BARE, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_command_line_from_elsewhere(venv, tmp_path):
    done = run([venv / 'bin/robot-id', '--version'], tmp_path)
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.startswith('robot-id, version')


def test_command_line_names_an_unknown_verb(venv, tmp_path):
    done = run([venv / 'bin/robot-id', 'identfy'], tmp_path)
    assert done.returncode == 2
    assert "no command 'identfy'" in done.stderr


def test_interfaces_import_in_plain_python(venv, tmp_path):
    code = 'from robot_id_msgs.action import Identify; print(Identify.Goal(robot="emps").robot)'
    done = run([venv / 'bin/python', '-c', code], tmp_path)
    assert (done.stdout, done.stderr) == ('emps\n', '')


def test_guard_of_another_environment_does_no_harm(venv, tmp_path):
    code = 'import rclpy; rclpy.init(); print("ok")'
    variables = {'_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1', 'LD_LIBRARY_PATH': '/nowhere/lib'}
    done = run([venv / 'bin/python', '-c', code], tmp_path, **variables)
    assert (done.stdout, done.stderr) == ('ok\n', '')


def test_arguments_and_input_survive_the_second_start(venv, tmp_path):
    script = tmp_path / 'a script.py'
    script.write_text('import sys; print(sys.argv[1:], sys.stdin.read())')
    done = subprocess.run(
        [VENV / 'bin/python', script, 'two words', '*', ''],
        input='typed',
        cwd=tmp_path,
        env=BARE,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "['two words', '*', ''] typed\n"


def test_every_node_of_setup_py_is_installed_and_has_a_file():
    import re

    nodes = re.search(r'NODES = \[(.*?)\]', (ROOT / 'setup.py').read_text(), flags=re.S)[1]
    names = re.findall(r"'(\w+)'", nodes)
    from running.node_process import executable

    for name in names:
        assert (ROOT / f'robot_id/nodes/{name}.py').is_file()
        assert os.access(executable(name)[0], os.X_OK)


def test_two_processes_talk_without_sourcing(venv, tmp_path):
    variables = {name: os.environ[name] for name in SHARED_VARIABLES}
    both = ['--ros-args', '-p', 'robot:=emps', '-p', 'autostart:=true', '-p', 'start_motion:=true']
    nodes = {}
    for name, more in (('trajectory_generator', []), ('ddm_simulator', ['-p', 'rate_hz:=50.0'])):
        nodes[name] = subprocess.Popen(
            [venv / 'lib/robot_id' / name, *both, *more],
            cwd=tmp_path,
            env={**BARE, **variables, 'ROS_LOG_DIR': str(tmp_path), 'PYTHONUNBUFFERED': '1'},
            stderr=subprocess.STDOUT,
            stdout=(tmp_path / name).open('w'),
        )
    log = tmp_path / 'trajectory_generator'
    try:
        deadline = time.monotonic() + 90.0
        # The generator plays once it has heard the simulator.
        while 'playing' not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        for node in nodes.values():
            node.send_signal(2)
        codes = [node.wait(30) for node in nodes.values()]
    assert codes == [0, 0], [(tmp_path / name).read_text() for name in nodes]
    assert 'playing' in log.read_text()


def test_colcon_sees_both_packages(venv, tmp_path):
    done = run([venv / 'bin/python', '-m', 'colcon', '--log-base', tmp_path, 'list'], ROOT)
    lines = {tuple(line.split('\t')) for line in done.stdout.splitlines()}
    assert lines == {
        ('robot_id', '.', '(ros.ament_python)'),
        ('robot_id_msgs', 'robot_id_msgs', '(ros.ament_cmake)'),
    }, done.stderr


def test_versions_agree():
    import robot_id

    manifests = [ROOT / 'package.xml', ROOT / 'robot_id_msgs/package.xml']
    found = {ElementTree.parse(path).getroot().findtext('version') for path in manifests}
    assert found == {robot_id.__version__}
    assert f"version='{robot_id.__version__}'" in (ROOT / 'setup.py').read_text()
