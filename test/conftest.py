"""Fixtures and rules for all tests."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from robot_id.robot import Robot

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile('robot_id', derandomize=True, deadline=None, print_blob=True)
settings.load_profile('robot_id')

os.environ.setdefault('MPLBACKEND', 'agg')
# Many small factorisations: threads of the BLAS only wait for each other, most of all on a busy
# machine. Set here because numpy is not imported yet.
for _name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(_name, '1')

# Helpers for tests of nodes: `from running.node_process import NodeProcess`.
sys.path[:0] = [str(ROOT / 'test'), str(ROOT / 'tools')]

from isolated import private_domain  # noqa: E402


def why_no_ros() -> str | None:
    """Return why tests on ROS cannot run here, or None. An unbuilt folder imports, a class not."""
    try:
        importlib.import_module('rclpy')
        getattr(importlib.import_module('robot_id_msgs.action'), 'Identify')  # noqa: B009
    except (ImportError, AttributeError) as error:
        return f'needs rclpy and a built robot_id_msgs: {error}'
    return None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line('markers', 'ros: runs on rclpy and robot_id_msgs')
    config.addinivalue_line(
        'markers', 'real_processes: needs time; `make test` runs it once more when it fails'
    )
    # Each process that runs tests has a domain of its own, so that workers never meet either.
    domain = private_domain()
    os.environ['ROS_DOMAIN_ID'] = str(domain.__enter__())
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    config.add_cleanup(lambda: domain.__exit__(None, None, None))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    on_ros = [item for item in items if item.get_closest_marker('ros')]
    reason = why_no_ros() if on_ros else None
    if reason:
        for item in on_ros:
            item.add_marker(pytest.mark.skip(reason=reason))


def _shipped(name: str) -> Robot:
    from robot_id.robot import load_robot

    return load_robot(name)


@pytest.fixture(scope='session')
def emps() -> Robot:
    """One axis, 4 base parameters."""
    return _shipped('emps')


@pytest.fixture(scope='session')
def scara() -> Robot:
    """Two axes, 8 base parameters."""
    return _shipped('scara')


@pytest.fixture(scope='session')
def tx40() -> Robot:
    """Six axes, 60 base parameters."""
    return _shipped('tx40')


@pytest.fixture(scope='module')
def robot(request: pytest.FixtureRequest) -> Robot:
    """The shipped robot that a file of tests names as ROBOT."""
    return _shipped(request.module.ROBOT)


@pytest.fixture(scope='session')
def shared() -> Path:
    """Folder with real data and reference figures, outside the repository."""
    folder = Path(os.environ.get('ROBOT_ID_SHARED', ROOT.parent / 'shared'))
    if not folder.is_dir():
        pytest.skip(
            f'no shared data: {folder} does not exist (ROBOT_ID_SHARED names another place)'
        )
    return folder
