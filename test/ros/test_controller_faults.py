"""The controller against a robot that misbehaves: the test itself is the robot."""

import json

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from lifecycle_msgs.msg import Transition
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from running.client import Client
from running.played_robot import MS, PlayedRobot
from running.robot_graph import Health, bring_up, node
from sensor_msgs.msg import JointState

from robot_id.robot import load_robot
from robot_id.ros.durations import to_duration, to_stamp
from robot_id.ros.qos import LATCHED, SERVICE
from robot_id_msgs.msg import DynamicParameters, ErrorCode
from robot_id_msgs.srv import EnableLearning, SetDynamicParameters

ORDER = ['elbow', 'shoulder']


@pytest.fixture(scope='module')
def controller(tmp_path_factory):
    folder = tmp_path_factory.mktemp('data')
    # The watchdog is slow here, so that it does not answer for the controller.
    with (
        Client(namespace='faults') as client,
        node(
            'ctc_controller', 'faults', robot='scara', joints=ORDER, rate_hz=1000.0,
            state_timeout_s=6.0, reference_timeout_s=0.2, data_directory=str(folder),
            # Single samples, which are no motion: neither their rate nor a start can be judged.
            soft_start_s=0.0,
            # Nobody publishes /clock here: a clock that stands still must not matter.
            use_sim_time=True,
        ) as process,
    ):  # fmt: skip
        bring_up(client, 'ctc_controller')
        robot = PlayedRobot(client)
        robot.folder, robot.process, robot.health = folder, process, Health(client)
        yield robot


@pytest.fixture
def robot(controller):
    """The robot at rest under a controller that holds it."""
    client = controller.client
    client.change_state('ctc_controller', Transition.TRANSITION_DEACTIVATE)
    client.change_state('ctc_controller', Transition.TRANSITION_ACTIVATE)
    client.spin_for(0.1)
    controller.ns += 10**9
    assert controller.send([0.1, -0.2]) is not None
    return controller


def counts(robot):
    robot.client.spin_for(1.3)
    assert robot.health.values('ctc_controller: learning')['positive_definite'] == 'everywhere'
    values = robot.health.values('ctc_controller: control')
    return {key: int(values[key]) for key in ('refused', 'duplicates', 'late', 'gaps', 'lost')}


def test_without_a_reference_it_holds_in_the_order_of_its_joints(robot):
    answer = robot.send([0.1, -0.2])
    assert np.abs(answer.data).max() < 1e-6
    assert answer.layout.dim[0].label == 'elbow,shoulder'
    # The a priori model: the rotor of the shoulder is sixty times that of the elbow.
    moved = robot.send([0.101, -0.2])
    assert moved.data[1] < -10 * abs(moved.data[0])
    assert robot.process.log.count('holds: no reference') >= 1


def test_joints_in_another_order_and_more_of_them_change_nothing(robot):
    robot.send([0.1, -0.2])
    one = list(robot.send([0.1002, -0.2001]).data)
    robot.send([0.1, -0.2])
    robot.send([0.1, -0.2])
    other = robot.send([7.0, -0.2001, 0.1002], names=('gripper', 'elbow', 'shoulder'))
    assert list(other.data) == pytest.approx(one, rel=1e-9)


def test_bad_states_get_no_answer_and_are_counted(robot):
    before = counts(robot)
    now = robot.ns
    assert robot.send([np.nan, -0.2]) is None
    assert robot.send([0.1], names=('shoulder',)) is None
    assert robot.send([0.1, -0.2, 0.3], names=('shoulder', 'elbow', 'elbow')) is None
    assert robot.send([0.1, -0.2], ns=now) is None  # duplicate
    assert robot.send([0.1, -0.2], ns=now - MS) is None  # late
    assert robot.send([0.1, -0.2], step=2 * MS) is not None  # after a gap
    after = counts(robot)
    assert after['refused'] - before['refused'] == 3
    assert after['duplicates'] - before['duplicates'] == 1
    assert after['late'] - before['late'] == 1
    assert after['gaps'] - before['gaps'] == 1
    assert after['lost'] - before['lost'] == 4
    robot.process.wait_for_log("joint 'elbow' is missing")
    robot.process.wait_for_log("joint 'elbow' appears more than once")
    robot.process.wait_for_log("position of joint 'shoulder' is not finite")


def test_a_reference_is_followed_within_the_torque_limits_and_a_far_one_is_not(robot):
    limits = load_robot('scara').limits.torque
    robot.refer([0.1, -0.2], robot.ns + MS)
    assert np.abs(robot.send([0.1, -0.2]).data).max() < 1e-6
    robot.refer([0.2, -0.2], robot.ns + MS)
    torque = robot.send([0.1, -0.2]).data
    assert torque[1] > 0.0
    assert abs(torque[1]) <= limits[0]
    assert abs(torque[0]) <= limits[1]
    robot.refer([np.nan, -0.2], robot.ns + MS)
    robot.process.wait_for_log('reference position of joint .shoulder. is not finite')
    robot.refer([3.0, -0.2], robot.ns + MS)
    held = robot.send([0.1, -0.2])
    assert held is not None
    robot.process.wait_for_log("joint 'shoulder' is 2.9 from its reference")
    robot.client.spin_until(
        lambda: robot.health.of('control') and robot.health.of('control').level == b'\x02',
        what='the fault in the diagnostics',
    )


def test_a_reference_that_passes_at_speed_is_not_joined(robot):
    for _ in range(3):
        robot.point([0.1, -0.2], [5.0, 0.0], robot.ns + MS)
        robot.client.spin_for(0.05)
        assert np.abs(robot.send([0.1, -0.2]).data).max() < 1e-6
    robot.client.spin_until(
        lambda: "passes joint 'shoulder' at 5" in robot.health.of('control').message,
        what='the reason in the diagnostics',
    )
    robot.refer([0.1, -0.2], robot.ns + MS)
    assert robot.send([0.1, -0.2]) is not None
    robot.process.wait_for_log('follows the reference')


def test_stamps_that_begin_anew_hold_the_robot_where_it_stands(robot):
    robot.send([0.1, -0.2])
    before = robot.ns
    robot.ns = 10**9
    # Far from where it was held: a controller that remembered would pull it back.
    answer = robot.send([0.4, 0.3])
    assert np.abs(answer.data).max() < 1e-6
    robot.process.wait_for_log('time was reset')
    assert np.abs(robot.send([0.41, 0.3]).data).max() > 0.01
    robot.ns = before


def test_when_the_states_stop_the_torque_is_zero(robot):
    robot.send([0.1, -0.2])
    assert np.abs(robot.send([0.11, -0.2]).data).max() > 0.01
    at = len(robot.commands)
    robot.client.spin_until(lambda: len(robot.commands) > at, what='the watchdog')
    assert list(robot.commands[-1].data) == [0.0, 0.0]
    robot.client.spin_until(
        lambda: 'zero torque' in robot.health.of('control').message, what='diagnostics'
    )
    answer = robot.send([0.3, 0.3])
    assert np.abs(answer.data).max() < 1e-6


def test_an_inactive_controller_leaves_zero_torque_and_says_nothing(robot):
    robot.send([0.1, -0.2])
    assert np.abs(robot.send([0.11, -0.2]).data).max() > 0.01
    at = len(robot.commands)
    robot.client.change_state('ctc_controller', Transition.TRANSITION_DEACTIVATE)
    robot.client.spin_until(lambda: len(robot.commands) > at, what='a last command')
    assert list(robot.commands[-1].data) == [0.0, 0.0]
    assert robot.send([0.1, -0.2]) is None


def parameters(robot, **fields):
    kind = SetDynamicParameters
    request = kind.Request(json_path=fields.pop('json_path', ''))
    request.blend = to_duration(fields.pop('blend', 0.0))
    request.parameters.names = list(fields)
    request.parameters.values = [float(v) for v in fields.values()]
    return robot.client.call(kind, 'ctc_controller/set_dynamic_parameters', request)


def test_parameters_are_set_and_latched_and_unsafe_ones_refused(robot):
    model = load_robot('scara')
    friction = next(name for name in model.base.names if name.startswith('Fv'))
    inertia, done = model.base.names[0], parameters(robot, **{friction: 0.25})
    assert done.error_code == ErrorCode.SUCCESS, done.error_string
    assert dict(zip(done.parameters.names, done.parameters.values))[friction] == 0.25
    late = robot.client.collect(DynamicParameters, 'ctc_controller/dynamic_parameters', LATCHED)
    robot.client.spin_until(lambda: late, what='the latched parameters')
    assert late[-1].update == done.parameters.update >= 1
    assert dict(zip(late[-1].names, late[-1].values))[friction] == 0.25
    assert tuple(late[-1].names) == model.base.names
    for fields, code, told in (
        ({'Fx1': 1.0}, ErrorCode.INVALID_DATA, "no parameter 'Fx1'"),
        ({friction: np.nan}, ErrorCode.INVALID_DATA, 'not a finite number'),
        ({friction: -1.0}, ErrorCode.REFUSED, f'{friction} = -1 leaves its bounds'),
        ({inertia: -50.0}, ErrorCode.REFUSED, 'M_hat'),
        ({friction: 0.3, 'blend': -1.0}, ErrorCode.INVALID_OPTION, 'blend'),
        ({'json_path': '../r.json'}, ErrorCode.FORBIDDEN_PATH, 'data directory'),
        ({'json_path': 'none.json'}, ErrorCode.INVALID_DATA, 'No such file'),
        ({}, ErrorCode.INVALID_DATA, 'neither parameters nor json_path'),
    ):
        answer = parameters(robot, **fields)
        assert (answer.error_code, told in answer.error_string) == (code, True), answer
        assert dict(zip(answer.parameters.names, answer.parameters.values))[friction] == 0.25
    result = {
        'schema': 1, 'robot': 'scara', 'method': 'idim_wls',
        'parameters': [{'name': n, 'value': v} for n, v in zip(model.base.names, model.truth())],
    }  # fmt: skip
    (robot.folder / 'r.json').write_text(json.dumps(result))
    answer = parameters(robot, json_path='r.json')
    assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
    assert answer.parameters.method == 'idim_wls'
    assert list(answer.parameters.values) == model.truth().tolist()


def test_a_model_that_jumps_moves_the_torque_in_small_steps(robot):
    bound = 0.02 * load_robot('scara').limits.torque[::-1]  # in the order of the message
    for _ in range(5):
        before = robot.send([0.12, -0.2]).data
    known = parameters(robot, Fv2=0.3).parameters
    inertia = next(name for name in known.names if name.startswith('ZZ1'))
    value = dict(zip(known.names, known.values))[inertia]
    done = parameters(robot, **{inertia: 1.4 * value, 'blend': 1e-3})
    assert done.error_code == ErrorCode.SUCCESS, done.error_string
    torques = np.array([before, *(robot.send([0.12, -0.2]).data for _ in range(60))])
    steps = np.abs(np.diff(torques, axis=0))
    assert np.all(steps <= bound * (1.0 + 1e-9))
    assert abs(torques[-1, 1] - torques[0, 1]) > 2.0 * bound[1], torques[[0, -1]]


def test_learning_is_switched_and_its_bound_kept(robot):
    def enable(value, sigma=0.0):
        request = EnableLearning.Request(enable=value, sigma_max=sigma)
        return robot.client.call(EnableLearning, 'ctc_controller/enable_learning', request)

    assert (enable(True, 20.0).enabled, enable(True).sigma_max) == (True, 20.0)
    refused = enable(False, 50.0)
    assert refused.error_code == ErrorCode.INVALID_OPTION
    assert (refused.enabled, refused.sigma_max) == (True, 20.0)
    assert not enable(False).enabled


def test_parameters_of_a_running_controller_are_protected(robot):
    verdicts = robot.client.set_parameters('ctc_controller', {'rate_hz': 500.0, 'sigma_max': 99.0})
    assert [verdict.successful for verdict in verdicts] == [False, False]
    assert 'cannot change while the node runs' in verdicts[0].reason


def test_joint_states_at_an_eighth_of_the_rate_are_answered_and_told(robot):
    before = counts(robot)
    for _ in range(60):
        assert robot.send([0.1, -0.2], step=8 * MS) is not None
    after = counts(robot)
    assert after['gaps'] - before['gaps'] == 60
    assert after['lost'] - before['lost'] == 60 * 7
    said = [s.message for m in robot.health.messages for s in m.status if 'control' in s.name]
    assert any('joint states come at 125 Hz, rate_hz is 1000' in text for text in said), said[-5:]


def test_a_best_effort_driver_that_comes_late_is_heard(robot):
    profile = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    reliable = robot.states
    robot.states = robot.client.node.create_publisher(JointState, 'joint_states', profile)
    try:
        robot.client.spin_until(
            lambda: robot.send([0.1, -0.2]) is not None, 30.0, 'an answer to best effort'
        )
    finally:
        robot.client.node.destroy_publisher(robot.states)
        robot.states = reliable
    robot.client.spin_until(lambda: robot.send([0.1, -0.2]) is not None, 30.0, 'as before')


def test_a_clock_that_jumps_changes_nothing(robot):
    clocks = robot.client.node.create_publisher(Clock, '/clock', 10)
    for seconds in (1000, 5, 2_000_000_000):
        clocks.publish(Clock(clock=to_stamp(seconds * 10**9)))
        robot.client.spin_for(0.05)
        assert robot.send([0.1, -0.2]) is not None
    robot.client.node.destroy_publisher(clocks)


def test_two_hundred_calls_at_once_are_all_answered(robot):
    node = robot.client.node
    name = 'ctc_controller/enable_learning'
    client = node.create_client(EnableLearning, name, qos_profile=SERVICE)
    robot.client.spin_until(client.service_is_ready, what='the service')
    futures = [client.call_async(EnableLearning.Request(enable=False)) for _ in range(200)]
    robot.client.spin_until(lambda: all(f.done() for f in futures), 60.0, '200 answers')
    assert robot.send([0.1, -0.2]) is not None
    assert {f.result().error_code for f in futures} == {ErrorCode.SUCCESS}
    node.destroy_client(client)
