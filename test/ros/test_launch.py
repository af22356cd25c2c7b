"""The launch files under the real launch_ros; skipped where there is none."""

import contextlib
import signal
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')
pytest.importorskip('launch_ros', reason='launch_ros comes with a ROS installation, not from PyPI')

from launch.actions import DeclareLaunchArgument
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters
from ros_helpers.launching import launched, wait_until_active, wait_until_it_moves
from ros_helpers.position_cell import plant_cell, write_arm
from running.client import Client
from running.robot_graph import START_S, Health
from sensor_msgs.msg import JointState

from robot_id.ros.launch_checks import root_link

ROOT = Path(__file__).resolve().parents[2]
COMMON = {
    'robot', 'lock', 'joints', 'remap', 'namespace', 'use_sim_time', 'params_file', 'enclaves',
    'rviz',
}  # fmt: skip
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_every_argument_is_described_and_the_common_ones_are_there(path):
    description = get_launch_description_from_python_launch_file(str(path))
    found = {a.name: a for a in description.get_launch_arguments()}
    assert set(found) >= COMMON
    page = (ROOT / 'doc/nodes/README.md').read_text()
    for name, argument in found.items():
        assert isinstance(argument, DeclareLaunchArgument)
        assert len(argument.description) > 10, name
        assert argument.default_value is not None, f'{name} has no default'
        assert f'`{name}`' in page, f'{name} is not in doc/nodes/README.md'


@pytest.mark.parametrize(
    ('file', 'arguments', 'nodes', 'processes'),
    [
        ('simulate', ['rate_hz:=200.0'], {'ddm_simulator', 'trajectory_generator'}, 2),
        (
            'control',
            ['sim:=true'],
            {'ddm_simulator', 'ctc_controller', 'trajectory_generator'},
            2,
        ),
        (
            'control',
            ['sim:=true', 'composed:=false'],
            {'ddm_simulator', 'ctc_controller', 'trajectory_generator'},
            3,
        ),
    ],
)
def test_launched_nodes_become_active_move_and_end_on_ctrl_c(file, arguments, nodes, processes):
    space = f'launched_{file}_{processes}'
    with launched(file, f'namespace:={space}', 'robot:=emps', *arguments) as launch:
        with Client(namespace=space) as client:
            health = Health(client)
            for node in nodes:
                client.wait_for_node(f'/{space}/{node}', START_S)
            for node in sorted(nodes - {'trajectory_generator'}):
                wait_until_active(client, node)
            wait_until_it_moves(client)
            client.spin_until(
                lambda: health.of(f'{space}/ddm_simulator: simulation'), START_S, 'diagnostics'
            )
        assert launch.interrupt() == 0, launch.output
        assert launch.output.count('process has finished cleanly') == processes, launch.output


def test_two_robots_side_by_side():
    arguments = ['robot:=emps', 'use_sim_time:=false', 'rate_hz:=100.0']
    with contextlib.ExitStack() as stack:
        launches = {
            space: stack.enter_context(launched('simulate', f'namespace:={space}', *arguments))
            for space in ('one', 'other')
        }
        for space, launch in launches.items():
            with Client(namespace=space) as client:
                wait_until_active(client, 'ddm_simulator')
                wait_until_it_moves(client)
                assert client.node.count_publishers(f'/{space}/joint_states') == 1
            assert launch.interrupt() == 0, launch.output


def test_the_parameter_file_reaches_every_node(tmp_path):
    """The simulation has a file of its own, and that one is not for logger and server."""
    file = tmp_path / 'mine.yaml'
    file.write_text('/**:\n  ros__parameters:\n    minimum_free_mb: 12.5\n    plots: false\n')
    arguments = [f'params_file:={file}', f'data_directory:={tmp_path}', 'identify:=false']
    with (
        launched('identify', 'namespace:=p', *arguments) as launch,
        Client(namespace='p') as client,
    ):

        def parameter(node, name):
            request = GetParameters.Request(names=[name])
            answer = client.call(GetParameters, f'{node}/get_parameters', request, START_S)
            return answer.values[0]

        assert parameter('data_logger', 'minimum_free_mb').double_value == 12.5
        assert parameter('data_logger', 'data_directory').string_value == str(tmp_path)
        assert parameter('identification_server', 'plots').bool_value is False
        assert parameter('ddm_simulator', 'command_timeout_s').double_value == 0.1
        assert parameter('trajectory_generator', 'use_sim_time').bool_value is True
        wait_until_active(client, 'ddm_simulator')
        assert launch.interrupt() == 0, launch.output


def test_what_is_said_wins_over_the_file_and_the_file_over_the_defaults(tmp_path):
    """A robot with a driver: its topics, the relay, and nothing that moves by itself."""
    file, mapping = tmp_path / 'mine.yaml', tmp_path / 'driver.yaml'
    mapping.write_text('topics: {joint_states: arm/states, effort_commands: arm/torques}\n')
    given = {'rate_hz': 200.0, 'learning': True, 'sigma_max': 7.0, 'mapping': str(mapping)}
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': given}}))
    arguments = [f'params_file:={file}', 'robot:=emps', 'learning:=false', 'joints:=[carriage]']
    arguments += ['remap:=arm/torques:=wire/torques', 'composed:=false']
    with (
        launched('control', 'namespace:=said', *arguments) as launch,
        Client(namespace='said') as client,
    ):

        def parameter(node, name):
            request = GetParameters.Request(names=[name])
            return client.call(GetParameters, f'{node}/get_parameters', request, START_S).values[0]

        assert parameter('ctc_controller', 'rate_hz').double_value == 200.0
        assert parameter('ctc_controller', 'learning').bool_value is False
        assert parameter('ctc_controller', 'sigma_max').double_value == 7.0
        assert parameter('ctc_controller', 'joints').string_array_value == ['carriage']
        assert parameter('ctc_controller', 'mapping').string_value == str(mapping)
        assert parameter('trajectory_generator', 'start_motion').bool_value is False
        client.spin_until(
            lambda: client.node.count_publishers('/said/effort_relay/commands') == 1,
            START_S,
            'the controller sends to the relay',
        )
        state = client.call(GetState, 'ctc_controller/get_state', timeout=START_S)
        assert state.current_state.label == 'inactive'
        publishers = client.node.get_publishers_info_by_topic('/said/wire/torques')
        assert [each.node_name for each in publishers] == ['effort_relay']
        assert client.node.count_subscribers('/said/arm/states') == 2
        assert launch.interrupt() == 0, launch.output


def test_locked_joints_of_a_urdf(tmp_path):
    urdf = ROOT / 'urdf/scara.urdf'
    with (
        launched('simulate', 'namespace:=locked', f'robot:={urdf}', 'lock:={elbow: 0.5}',
                 'trajectory:=random', 'rate_hz:=100.0') as launch,
        Client(namespace='locked') as client,
    ):  # fmt: skip
        wait_until_active(client, 'ddm_simulator')
        states = client.collect(JointState, 'joint_states', 10)
        client.spin_until(lambda: states, START_S, 'joint states')
        assert list(states[0].name) == ['shoulder']
        assert launch.interrupt() == 0, launch.output


@pytest.mark.parametrize(
    ('arguments', 'line'),
    [
        (['robot:=emps', 'lock:={a: 0}'], "write 'locked' there"),
        (['remap:=a'], "remap: 'a' is not of the form old:=new"),
        (['rate_hz:=fast'], 'rate_hz:=fast is not a number'),
        (['sim:=true', 'joints:=[karriage]'], "no joint 'karriage', did you mean 'carriage'?"),
        (['mapping:=nobody', 'sim:=false'], "mapping 'nobody': neither a file nor"),
        (['mapping:=ur_driver', 'sim:=true'], 'a simulated robot has no driver'),
    ],
)
def test_arguments_that_cannot_be_used_end_the_launch(arguments, line):
    with launched('control', *arguments) as launch:
        assert launch.wait(START_S) == 1
    assert line in launch.output
    assert 'process started' not in launch.output


@pytest.mark.parametrize('composed', ['true', 'false'])
def test_a_node_that_refuses_its_parameters_ends_the_launch(composed):
    arguments = ['sim:=true', 'parameters:=none.json', f'composed:={composed}']
    with launched('control', *arguments) as launch:
        assert launch.wait(START_S) == 1
    assert 'none.json: No such file' in launch.output
    assert 'cannot start with its parameters' in launch.output


def calibration(arm, folder, *more):
    """Return the arguments that play a short motion quickly on the plant of an arm."""
    file = folder / 'quick.yaml'
    parameters = {'approach_share': 1.0, 'state_timeout_s': 5.0}
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
    return [f'robot:={arm.robot}', f'motion:={arm.motion}', 'namespace:=calibrated', 'sim:=true',
            f'data_directory:={folder / "runs"}', f'params_file:={file}', *more]  # fmt: skip


def test_a_position_controlled_arm_from_its_motion_to_a_verdict(tmp_path):
    pytest.importorskip('mujoco')
    arm = write_arm(tmp_path)
    with plant_cell(arm, 'calibrated') as cell:
        with launched('calibrate', *calibration(arm, tmp_path, 'speeds:=0.5,1')) as launch:
            code = launch.wait()
        assert 'verdict: ' in launch.output, launch.output
        # do_not_use is an error.
        assert code == int('verdict: do not use' in launch.output)
        assert (tmp_path / 'runs/report.html').exists()
        assert cell.figures()['trajectories'] == 2


def test_the_end_of_a_calibration_ends_its_motion(tmp_path):
    """Only `ros2 launch` hears of it, as with `kill -INT`: it tells what it has started."""
    pytest.importorskip('mujoco')
    arm = write_arm(tmp_path)
    with plant_cell(arm, 'calibrated') as cell:
        with launched('calibrate', *calibration(arm, tmp_path, 'speeds:=0.5')) as launch:
            cell.move(0.15)
            launch.process.send_signal(signal.SIGINT)
            launch.wait()
        assert 'stopping: the node ends' in launch.output, launch.output
        assert cell.stand()['trajectories'] == 2


def test_a_calibration_that_fails_is_an_error_of_the_launch(tmp_path):
    arguments = [f'data_directory:={tmp_path}', 'motion:=none.yaml', 'sim:=true']
    with launched('calibrate', *arguments) as launch:
        assert launch.wait(START_S) == 1
    assert 'none.yaml: ' in launch.output
    assert 'robot-id play ended with exit code 2' in launch.output


@pytest.mark.parametrize('file', ['simulate', 'control', 'identify', 'replay', 'calibrate'])
def test_an_unknown_robot_ends_the_launch_before_a_node_starts(file):
    with launched(file, 'robot:=nobody') as launch:
        assert launch.wait(START_S) == 1
    assert "no robot 'nobody', known: emps" in launch.output
    assert 'process started' not in launch.output


def test_security_without_an_enclave_ends_the_launch_before_a_node_starts(monkeypatch):
    monkeypatch.setenv('ROS_SECURITY_ENABLE', 'true')
    monkeypatch.delenv('ROS_SECURITY_ENCLAVE_OVERRIDE', raising=False)
    with launched('control', 'sim:=true', 'enclaves:=/left') as launch:
        assert launch.wait(START_S) == 1
    assert 'export ROS_SECURITY_ENCLAVE_OVERRIDE=/left/operator' in launch.output
    assert 'process started' not in launch.output


def test_rviz_says_what_is_missing_or_starts():
    from ament_index_python.packages import get_packages_with_prefixes

    viewers = {'robot_state_publisher', 'rviz2'} - set(get_packages_with_prefixes())
    if not viewers:
        pytest.skip('robot_state_publisher and rviz2 are installed, and a test has no screen')
    with launched('simulate', 'rviz:=true') as launch:
        assert launch.wait(START_S) == 1
    assert f'rviz:=true needs the ROS packages {" and ".join(sorted(viewers))};' in launch.output
    assert 'process started' not in launch.output


def test_root_of_a_urdf():
    for path in (ROOT / 'urdf').glob('*.urdf'):
        assert root_link(path.read_text()) == 'base_link'
    arm = '<robot><link name="tip"/><link name="foot"/><joint><child link="tip"/></joint></robot>'
    assert root_link(arm) == 'foot'
