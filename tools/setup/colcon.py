"""The packages of this repository, built by colcon into .venv."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from command import run
from ros import Ros

ROOT = Path(__file__).resolve().parents[2]
# What a shell of another workspace may carry; none of it belongs into a build on the wheels.
FOREIGN = ('PYTHONPATH', 'PYTHONHOME', 'COLCON_PREFIX_PATH', 'ROS_DISTRO', 'AMENT_CURRENT_PREFIX')


def build_messages(venv: Path, ros: Ros, environment: dict[str, str]) -> None:
    """Generate and compile robot_id_msgs."""
    options = ['--cmake-args', '-DBUILD_TESTING=OFF', f'-DPython3_EXECUTABLE={venv}/bin/python']
    if not ros.sourced or shutil.which('ninja'):
        options += ['-G', 'Ninja']
    title = 'robot_id_msgs, generated and compiled (1 to 2 minutes)'
    _build(title, 'robot_id_msgs', options, venv, ros, environment)


def build_controller_messages(venv: Path, ros: Ros, environment: dict[str, str]) -> None:
    """Generate what joint_trajectory_controller speaks; a sourced ROS has control_msgs itself."""
    if ros.sourced:
        return
    options = ['--base-paths', 'tools/control_msgs', '--cmake-args', '-DBUILD_TESTING=OFF']
    options += [f'-DPython3_EXECUTABLE={venv}/bin/python', '-G', 'Ninja']
    title = 'control_msgs, the part that joint_trajectory_controller speaks (1 minute)'
    _build(title, 'control_msgs', options, venv, ros, environment)


def build_package(venv: Path, ros: Ros, environment: dict[str, str]) -> None:
    """Link robot_id with its node executables into .venv; edits of the sources are live."""
    scripts = venv / 'lib/robot_id'
    if scripts.is_dir():
        shutil.rmtree(scripts)  # a node that was renamed must not live on
    _build(
        'robot_id and its executables', 'robot_id', ['--symlink-install'], venv, ros, environment
    )


def _build(
    title: str, package: str, options: list[str], venv: Path, ros: Ros, environment: dict[str, str]
) -> None:
    environment = dict(environment)
    if not ros.sourced:
        for name in FOREIGN:
            environment.pop(name, None)
        environment['AMENT_PREFIX_PATH'] = environment['CMAKE_PREFIX_PATH'] = str(venv)
    environment['PATH'] = f'{venv / "bin"}{os.pathsep}{environment.get("PATH", os.defpath)}'
    environment['COLCON_HOME'] = str(venv / 'colcon')
    environment['COLCON_DEFAULTS_FILE'] = str(ROOT / 'colcon_defaults.yaml')
    command = [str(venv / 'bin/python'), '-m', 'colcon', '--log-base', str(venv / 'colcon/log')]
    command += ['build', '--packages-select', package, '--merge-install']
    command += ['--build-base', str(venv / 'colcon/build'), '--install-base', str(venv)]
    command += ['--event-handlers', 'console_direct+', *options]
    run(title, command, venv / f'log/{package}.log', environment, ROOT)
