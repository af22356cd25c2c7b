"""The numerical core and the command line work where ROS is not installed at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Every import of something that only a ROS installation brings fails, also one inside a function.
BLOCK = """
import sys

class NoRos:
    def find_spec(self, name, path=None, target=None):
        top = name.partition('.')[0]
        if top.endswith(('_msgs', '_srvs', '_interfaces')) or top.startswith(
            ('rclpy', 'launch', 'ament_', 'rosidl', 'rpyutils')
        ):
            raise ModuleNotFoundError(f'{name}: no ROS here', name=name)

sys.meta_path.insert(0, NoRos())
"""


def modules() -> list[str]:
    """Return every module of robot_id outside nodes and ros."""
    # Templates are files of exported packages.
    paths = sorted(p for p in (ROOT / 'robot_id').rglob('*.py') if 'templates' not in p.parts)
    names = ['.'.join(path.relative_to(ROOT).with_suffix('').parts) for path in paths]
    names = [name.removesuffix('.__init__') for name in names]
    return [name for name in names if not name.startswith(('robot_id.nodes', 'robot_id.ros'))]


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if 'ROS' not in key}
    return subprocess.run(
        [sys.executable, '-c', BLOCK + code, *arguments],
        cwd=ROOT,
        env={**environment, '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_block_keeps_ros_out():
    done = run('import rclpy')
    assert done.returncode == 1
    assert 'no ROS here' in done.stderr


def test_all_rooms_but_nodes_import_without_ros():
    found = modules()
    assert {'robot_id.data.dataset', 'robot_id.methods.result', 'robot_id.cli.main'} <= {*found}
    code = """
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
print('loaded', len(sys.argv) - 1)
"""
    done = run(code, *found)
    assert done.stdout.strip() == f'loaded {len(found)}', done.stderr


def test_command_line_help_loads_no_numerical_library():
    code = """
from robot_id.cli.main import cli
cli(['--help'], standalone_mode=False)
heavy = {'numpy', 'scipy', 'pinocchio', 'numba', 'matplotlib', 'rosbags'} & set(sys.modules)
assert not heavy, heavy
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert 'Usage' in done.stdout


def test_only_nodes_and_ros_mention_rclpy():
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / 'robot_id').rglob('*.py')
        if not {'nodes', 'ros'} & set(path.parts) and 'import rclpy' in path.read_text()
    ]
    assert offenders == []
