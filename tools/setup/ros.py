"""Which ROS 2 to use: the one that is sourced, or the wheels."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from machine import SetupError

# Distributions before Jazzy; a name that is not here is Jazzy or newer.
TOO_OLD = [
    'ardent',
    'bouncy',
    'crystal',
    'dashing',
    'eloquent',
    'foxy',
    'galactic',
    'humble',
    'iron',
    'hydro',
    'indigo',
    'jade',
    'kinetic',
    'lunar',
    'melodic',
    'noetic',
]
WHEELS_DISTRO = 'jazzy'

PATHS = ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'LD_LIBRARY_PATH', 'PYTHONPATH')
VALUES = ('ROS_DISTRO', 'ROS_VERSION', 'ROS_PYTHON_VERSION', 'RMW_IMPLEMENTATION')


@dataclass(frozen=True)
class Ros:
    """
    A ROS 2 to build and run against.

    :param distro: its name, e.g. jazzy.
    :param sourced: False for the wheels.
    :param prefixes: its ament prefixes, most specific first; empty for the wheels.
    """

    distro: str
    sourced: bool
    prefixes: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = self.prefixes[-1] if self.sourced else 'from wheels'
        return f'ROS 2 {self.distro} ({where})'


WHEELS = Ros(WHEELS_DISTRO, sourced=False)


def choose(python: str, venv: Path, environment: Mapping[str, str] = os.environ) -> Ros:
    """
    Return the sourced ROS 2 where there is one, else the wheels.

    :param python: interpreter that will own the environment, it must be able to import rclpy.
    :param venv: our own environment; it is an ament prefix too, but no ROS installation.
    """
    prefixes = tuple(
        prefix
        for prefix in environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
        if prefix and not (Path(prefix) / 'pyvenv.cfg').exists() and Path(prefix) != venv
    )
    distro = environment.get('ROS_DISTRO', '')
    if not distro or not prefixes:
        return WHEELS
    if distro in TOO_OLD:
        raise SetupError(
            f'ROS {distro} is sourced, robot_id needs ROS 2 Jazzy or newer; source a newer one, '
            'or run make in a shell that sources none (ROS 2 then comes from wheels)'
        )
    if not imports_rclpy(python, environment):
        raise SetupError(
            f'ROS 2 {distro} is sourced, but {python} cannot import its rclpy; name the Python '
            'of that installation: make PYTHON=/usr/bin/python3, or use a shell without ROS'
        )
    return Ros(distro, True, prefixes)


def imports_rclpy(python: str, environment: Mapping[str, str]) -> bool:
    """Tell whether an interpreter gets as far as rclpy's compiled part."""
    done = subprocess.run(
        [python, '-c', 'from rclpy.impl.implementation_singleton import rclpy_implementation'],
        env=dict(environment),
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def to_remember(ros: Ros, venv: Path, environment: Mapping[str, str] = os.environ) -> dict:
    """
    Return the variables that a program of .venv needs in a shell that sources nothing.

    :return: {'paths': {name: [folders]}, 'values': {name: value}}, as hook.py reads it.
    """
    if not ros.sourced:
        libraries = [venv / 'lib', *sorted(venv.glob('lib/python*/site-packages/ros_*.libs'))]
        return {
            'paths': {
                'AMENT_PREFIX_PATH': [str(venv)],
                'LD_LIBRARY_PATH': [str(folder) for folder in libraries],
            },
            'values': {
                'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp',
                '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
            },
        }
    paths = {
        name: [folder for folder in environment.get(name, '').split(os.pathsep) if folder]
        for name in PATHS
    }
    paths['AMENT_PREFIX_PATH'] = [str(venv), *ros.prefixes]
    paths['LD_LIBRARY_PATH'].insert(0, str(venv / 'lib'))
    return {
        'paths': {name: folders for name, folders in paths.items() if folders},
        'values': {name: environment[name] for name in VALUES if name in environment},
    }
