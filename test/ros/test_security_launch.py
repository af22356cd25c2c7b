"""Every launch file with security on, as an operator runs it; skipped where that cannot be."""

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')
pytest.importorskip('sros2', reason='sros2 comes with a ROS installation, not from PyPI')
pytest.importorskip('launch_ros', reason='launch_ros comes with a ROS installation, not from PyPI')

from ros_helpers.launching import launched, wait_until_active, wait_until_it_moves
from ros_helpers.secured import REFUSED, client, environment, keys_or_skip, make_keys, variables
from running.robot_graph import START_S
from running.simulated_bag import simulated_bag
from security_policy import POLICY
from std_msgs.msg import Float64MultiArray

from robot_id_msgs.msg import OnlineStatus


@pytest.fixture(scope='module')
def operator(tmp_path_factory):
    """Return the variables of the operator's shell."""
    keys = keys_or_skip(tmp_path_factory.mktemp('sros') / 'keys', POLICY)
    return environment(keys, 'operator')


@pytest.mark.parametrize(
    ('file', 'arguments'),
    [
        ('simulate', ['rate_hz:=200.0']),
        ('control', ['sim:=true']),
        ('control', ['sim:=true', 'composed:=false']),
    ],
)
def test_a_launched_robot_moves(operator, file, arguments):
    with variables(operator), launched(file, 'robot:=emps', *arguments) as launch:
        with client(operator) as seen:
            wait_until_it_moves(seen)
        assert launch.interrupt() == 0, launch.output
    assert REFUSED not in launch.output


def test_a_robot_in_a_namespace_has_its_own_keys(operator, tmp_path):
    """By the commands of doc/nodes/security.md."""
    policy = tmp_path / 'left.xml'
    text = POLICY.read_text()
    policy.write_text(text.replace('ns="/"', 'ns="/left"').replace('"/robot_id/', '"/left/'))
    left = environment(make_keys(tmp_path / 'keys', policy), 'operator', '/left')
    arguments = ['sim:=true', 'namespace:=left', 'enclaves:=/left']
    with variables(left), launched('control', *arguments) as launch:
        with client(left, namespace='left') as seen:
            wait_until_it_moves(seen)
        assert launch.interrupt() == 0, launch.output
    assert REFUSED not in launch.output


def test_a_dry_run_shows_its_commands(operator):
    arguments = ['sim:=true', 'dry_run:=true', 'lock_step:=false', 'rate_hz:=200.0']
    with variables(operator), launched('control', *arguments) as launch:
        with client(operator) as seen:
            shown = seen.collect(Float64MultiArray, 'ctc_controller/dry_run_commands', 100)
            seen.spin_until(lambda: shown, START_S, 'commands of the dry run')
            for node in 'ctc_controller', 'ddm_simulator':
                wait_until_active(seen, node)
        assert launch.interrupt() == 0, launch.output
    assert REFUSED not in launch.output


def test_a_robot_is_recorded_and_identified(operator, tmp_path):
    arguments = [f'data_directory:={tmp_path}', 'record_s:=4.0', 'online:=true']
    with variables(operator), launched('identify', 'robot:=emps', *arguments) as launch:
        assert launch.wait() == 0, launch.output
    assert 'emps by idim_wls' in launch.output
    assert REFUSED not in launch.output


def test_a_recording_is_replayed_and_followed(operator, tmp_path):
    simulated_bag(tmp_path / 'run', seconds=4.0)
    arguments = [f'bag:={tmp_path / "run"}', 'online:=true', 'robot:=emps']
    with variables(operator), client(operator) as seen:
        status = seen.collect(OnlineStatus, 'online_identifier/status', 100)
        with launched('replay', *arguments) as launch:
            seen.spin_until(lambda: status and status[-1].samples > 100, START_S, 'an estimate')
            assert launch.wait() == 0, launch.output
    assert REFUSED not in launch.output
