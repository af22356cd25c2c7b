"""The launch files under the real launch_ros; skipped where there is none."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')
pytest.importorskip('launch_ros', reason='launch_ros comes with a ROS installation, not from PyPI')

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from lifecycle_msgs.srv import GetState
from ros_helpers.client import Client
from ros_helpers.robot_graph import START_S, Health
from sensor_msgs.msg import JointState

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
# What `ros2 launch FILE key:=value ...` does, where ros2cli is not installed.
RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
path, *given = sys.argv[1:]
include = IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path), launch_arguments=[g.split(':=', 1) for g in given])
service = LaunchService()
service.include_launch_description(LaunchDescription([include]))
sys.exit(service.run())
"""


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_every_argument_is_described_and_the_common_ones_are_there(path):
    description = get_launch_description_from_python_launch_file(str(path))
    found = {a.name: a for a in description.get_launch_arguments()}
    assert {'robot', 'namespace', 'use_sim_time', 'params_file', 'rviz'} <= set(found)
    for name, argument in found.items():
        assert isinstance(argument, DeclareLaunchArgument)
        assert len(argument.description) > 10, name
        assert argument.default_value is not None, f'{name} has no default'
        assert LaunchContext() is not None


@pytest.mark.parametrize(
    ('file', 'arguments', 'nodes', 'active'),
    [
        ('simulate', ['rate_hz:=200.0'], {'ddm_simulator', 'trajectory_generator'}, 1),
        (
            'control',
            ['sim:=true', 'lock_step:=true'],
            {'ddm_simulator', 'ctc_controller', 'trajectory_generator'},
            2,
        ),
    ],
)
def test_launched_nodes_become_active_move_and_end_on_ctrl_c(file, arguments, nodes, active):
    space = f'launched_{file}'
    command = [sys.executable, '-c', RUN, str(ROOT / f'launch/{file}.launch.py')]
    command += [f'namespace:={space}', 'robot:=emps', *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    )
    try:
        with Client(namespace=space) as client:
            health = Health(client)
            for node in nodes:
                client.wait_for_node(f'/{space}/{node}', START_S)
            lifecycle = sorted(nodes - {'trajectory_generator'})
            assert len(lifecycle) == active
            for node in lifecycle:
                client.spin_until(
                    lambda node=node: (
                        client.call(
                            GetState, f'{node}/get_state', timeout=START_S
                        ).current_state.label
                        == 'active'
                    ),
                    START_S,
                    f'{node} is active',
                )
            states = client.collect(JointState, 'joint_states', 1000)
            client.spin_until(
                lambda: states and max(abs(s.position[0]) for s in states) > 0.05,
                START_S,
                'the robot moves',
            )
            client.spin_until(
                lambda: health.of(f'{space}/ddm_simulator: simulation'), 10.0, 'diagnostics'
            )
        os.killpg(process.pid, signal.SIGINT)
        deadline = time.monotonic() + 30.0
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        output = process.communicate(timeout=5)[0]
        assert process.returncode == 0, output
        assert output.count('process has finished cleanly') == len(nodes), output
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
