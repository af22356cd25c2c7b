"""The graph with security on: real keystores made from the policy, each process in its enclave."""

import contextlib
import shutil

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(600)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')
pytest.importorskip('sros2', reason='sros2 comes with a ROS installation, not from PyPI')

from action_msgs.msg import GoalStatus
from ros_helpers.secured import (
    REFUSED,
    STRANGER,
    client,
    environment,
    keys_or_skip,
    make_keys,
    process,
)
from running.robot_graph import START_S, Health, bring_up
from security_policy import POLICY
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_id.ros.qos import LATCHED
from robot_id_msgs.action import Identify
from robot_id_msgs.msg import DynamicParameters, ErrorCode
from robot_id_msgs.srv import Identify as IdentifyNow
from robot_id_msgs.srv import StartRecording, StopRecording

RATE = {'rate_hz': 200.0}
SECONDS = 4.0


@pytest.fixture(scope='module')
def keys(tmp_path_factory):
    return keys_or_skip(tmp_path_factory.mktemp('sros') / 'keys', POLICY)


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    return tmp_path_factory.mktemp('data')


@pytest.fixture(scope='module')
def operator(keys, data):
    """A robot that moves, all nodes by themselves, seen by the operator."""
    common = {'robot': 'emps', **RATE}
    folder = {'data_directory': str(data)}
    with contextlib.ExitStack() as stack:
        nodes = [
            process(keys, 'ddm_simulator', **common, command_timeout_s=1.0, on_stale='hold'),
            process(keys, 'ctc_controller', **common, state_timeout_s=1.0, largest_error=10.0),
            process(keys, 'trajectory_generator', **common),
            process(keys, 'data_logger', **folder),
            process(keys, 'identification_server', robot='emps', **folder),
            process(keys, 'online_identifier', robot='emps', publish_period_s=0.2),
        ]
        for node in nodes:
            stack.enter_context(node)
        for node in nodes:
            node.wait_for_log('ready', START_S)
        seen = stack.enter_context(client(environment(keys, 'operator')))
        health = Health(seen)
        bring_up(seen, 'ctc_controller')
        bring_up(seen, 'ddm_simulator')

        def mode(wanted):
            return health.values('ctc_controller: control').get('mode') == wanted

        seen.spin_until(lambda: mode('holding'), START_S, 'the robot is held')
        assert seen.call(Trigger, 'trajectory_generator/start').success
        seen.spin_until(lambda: mode('following'), START_S, 'the robot follows')
        yield seen
        for node in nodes:
            assert node.stop() == 0, node.log
            assert REFUSED not in node.log, node.log


def test_the_robot_moves_and_is_identified(operator):
    states = operator.collect(JointState, 'joint_states', 1000)
    learned = operator.collect(DynamicParameters, 'online_identifier/dynamic_parameters', LATCHED)
    operator.spin_until(
        lambda: states and max(abs(s.position[0]) for s in states) > 0.05, START_S, 'it moves'
    )
    (answer,) = operator.set_parameters('online_identifier', {'publish_period_s': 0.5})
    assert answer.successful, answer.reason
    request = StartRecording.Request(name='secured')
    assert operator.call(StartRecording, 'data_logger/start', request).error_code == 0
    operator.spin_for(SECONDS)
    status = operator.call(StopRecording, 'data_logger/stop').status
    assert status.samples > 0.5 * SECONDS * RATE['rate_hz']
    now = operator.call(
        IdentifyNow, 'identification_server/identify', IdentifyNow.Request(bag='secured')
    )
    assert now.error_code == ErrorCode.SUCCESS, now.error_string
    goal = operator.send_goal(
        Identify, 'identification_server/identify', Identify.Goal(bag='secured')
    )
    status, later = goal.result()
    assert (status, later.error_code) == (GoalStatus.STATUS_SUCCEEDED, 0), later.error_string
    assert list(later.result.parameters.values) == list(now.result.parameters.values)
    operator.spin_until(lambda: learned, START_S, 'the on-line identifier has an estimate')


@pytest.mark.parametrize('kind', ['without keys', 'with keys of another authority'])
def test_a_stranger_neither_hears_nor_commands(operator, keys, tmp_path, kind):
    """With the logger as the control: it hears, in the same seconds and by the same means."""
    if kind == 'without keys':
        values = STRANGER
    else:
        values = environment(make_keys(tmp_path / 'keys', POLICY), 'ctc_controller')
    logger = environment(keys, 'data_logger')
    with client(values, 'ctc_controller') as stranger, client(logger, 'data_logger') as known:
        heard = stranger.collect(JointState, 'joint_states', 1000)
        control = known.collect(JointState, 'joint_states', 1000)
        command = stranger.node.create_publisher(Float64MultiArray, 'effort_commands', 1)
        known.spin_until(lambda: len(control) > 100, START_S, 'the logger hears')
        stranger.spin_for(5.0)
        assert not heard
        # A daemon of the ros2 tools that runs without security is a stranger too.
        seen = [name for name in stranger.node.get_node_names() if 'daemon' not in name]
        assert seen == ['ctc_controller'], 'only itself'
        assert command.get_subscription_count() == 0
        assert operator.node.count_publishers('effort_commands') == 1


def test_keys_alone_do_not_permit_to_command(operator, keys):
    with pytest.raises(RuntimeError, match='publisher'):
        operator.node.create_publisher(Float64MultiArray, 'effort_commands', 1)
    logger = environment(keys, 'data_logger')
    with client(logger, 'data_logger') as traitor:
        with pytest.raises(RuntimeError, match='publisher'):
            traitor.node.create_publisher(Float64MultiArray, 'effort_commands', 1)
        with pytest.raises(RuntimeError, match='client'):
            traitor.node.create_client(Trigger, 'trajectory_generator/stop')


def test_a_policy_without_a_topic_is_told_in_one_line(keys, tmp_path):
    """So the tests above depend on the policy: with a topic less, a node does not start."""
    text = POLICY.read_text()
    policy = tmp_path / 'policy.xml'
    policy.write_text(text.replace('<topic>joint_states</topic>', '<topic>others</topic>'))
    lesser = make_keys(tmp_path / 'keys', policy)
    with process(lesser, 'trajectory_generator', robot='emps') as node:
        assert node.wait(START_S) == 2, node.log
    assert 'the enclave /robot_id/trajectory_generator has no keys or may not' in node.log
    assert 'Traceback' not in node.log


def test_a_missing_enclave_is_told_in_one_line(keys, tmp_path):
    less = tmp_path / 'keys'
    shutil.copytree(keys, less, symlinks=True)
    shutil.rmtree(less / 'enclaves/robot_id/data_logger')
    with process(less, 'data_logger', data_directory=str(tmp_path)) as node:
        assert node.wait(START_S) == 2, node.log
    assert "enclaves/robot_id/data_logger' does not exist" in node.log
    assert 'Traceback' not in node.log
