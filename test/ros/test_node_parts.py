"""The logic behind the nodes, without processes: stamps, joints, references, modes, commands."""

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

import rclpy
from hypothesis import given
from hypothesis import strategies as st
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.control import ComputedTorque
from robot_id.control.torque_control import Mode, TorqueControl
from robot_id.data.joint_order import JointMatcher, joint_order
from robot_id.data.stamps import Order, StampWatch, to_ns
from robot_id.exceptions import DataError, OptionError, TrajectoryError
from robot_id.model import load_robot
from robot_id.nodes.ctc_parameters import TABLE as CONTROLLER_TABLE
from robot_id.nodes.ddm_simulator import TABLE as SIMULATOR_TABLE
from robot_id.nodes.trajectory_generator import TABLE as GENERATOR_TABLE
from robot_id.ros.data_directory import below
from robot_id.ros.effort_commands import CommandReader, CommandWriter
from robot_id.ros.messages import ForbiddenPath
from robot_id.ros.parameter_table import AUTOSTART, ROBOT, ParameterTable
from robot_id.ros.stamps import to_stamp
from robot_id.trajectory import Quintic
from robot_id.trajectory.braking import Brake
from robot_id.trajectory.default import motion_of
from robot_id.trajectory.player import TrajectoryPlayer
from robot_id.trajectory.reference_buffer import ReferenceBuffer

ROOT = Path(__file__).resolve().parents[2]
MS = 1_000_000


@given(st.integers(0, 2**31 * 10**9 - 1))
def test_a_stamp_survives_the_message(ns):
    assert to_ns(to_stamp(ns)) == ns


def test_stamps_are_judged_and_counted():
    watch = StampWatch(MS)
    told = [watch.judge(ns * MS) for ns in (5, 6, 7, 7, 6, 8, 12, 13, 0, 1)]
    assert told == [
        Order.FIRST, Order.NEXT, Order.NEXT, Order.DUPLICATE, Order.LATE, Order.NEXT, Order.GAP,
        Order.NEXT, Order.RESTART, Order.NEXT,
    ]  # fmt: skip
    assert watch.counts() == {'gaps': 1, 'lost': 3, 'duplicates': 1, 'late': 1, 'restarts': 1}


def test_three_older_stamps_in_a_row_are_a_new_start_and_two_are_not():
    watch = StampWatch(MS)
    for ns in range(100, 110):
        watch.judge(ns * MS)
    assert [watch.judge(ns * MS) for ns in (50, 51)] == [Order.LATE, Order.LATE]
    assert watch.judge(110 * MS) is Order.NEXT
    assert [watch.judge(ns * MS) for ns in (50, 51, 52)][-1] is Order.RESTART


@given(st.permutations(['a', 'b', 'c', 'extra']))
def test_joints_are_matched_by_name(names):
    values = {'a': 1.0, 'b': 2.0, 'c': 3.0, 'extra': 4.0}
    matcher = JointMatcher(('a', 'b', 'c'))
    matcher.match(names)
    assert matcher.take([values[name] for name in names]).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ('names', 'values', 'told'),
    [
        (['a', 'b'], [1, 2], "joint 'c' is missing"),
        (['a', 'b', 'c', 'c'], [1, 2, 3, 3], "joint 'c' appears more than once"),
        (['a', 'b', 'c'], [1, 2], '2 values of position for 3 joints'),
        (['c', 'a', 'b'], [1, np.nan, 2], "position of joint 'a' is not finite"),
        (['c', 'a', 'b'], [np.inf, 1, -np.inf], "position of joint 'b' is not finite"),
    ],
)
def test_joint_states_that_cannot_be_used_say_why(names, values, told):
    def use():
        matcher = JointMatcher(('a', 'b', 'c'))
        matcher.match(names)
        matcher.take(values)

    with pytest.raises(DataError, match=told):
        use()


def test_the_order_of_a_parameter_must_name_each_joint_once():
    assert joint_order(('a', 'b'), [], 'joints') == [0, 1]
    assert joint_order(('a', 'b', 'c'), ['c', 'a', 'b'], 'joints') == [1, 2, 0]
    with pytest.raises(OptionError, match="joints: joint 'b' is missing"):
        joint_order(('a', 'b'), ['a'], 'joints')
    with pytest.raises(OptionError, match="no joint 'x'"):
        joint_order(('a', 'b'), ['a', 'x'], 'joints')


@given(st.permutations(['a', 'b', 'c']), st.booleans())
def test_effort_commands_arrive_whatever_the_order(names, stamped):
    joints = ('a', 'b', 'c')
    order = joint_order(joints, names, 'joints')
    message = CommandWriter(joints, order, stamped).write(np.array([1.0, 2.0, 3.0]), 7 * MS)
    assert message.data[names.index('b')] == 2.0
    torque, stamp = CommandReader(joints, [0, 1, 2]).read(message)
    assert torque.tolist() == [1.0, 2.0, 3.0]
    assert (stamp is not None) == stamped
    # A reader that sees no names takes the order of its parameter, as a stock controller does.
    bare = Float64MultiArray(data=message.data[:3])
    assert CommandReader(joints, order).read(bare)[0].tolist() == [1.0, 2.0, 3.0]


def test_effort_commands_that_cannot_be_used_say_why():
    reader = CommandReader(('a', 'b'), [0, 1])
    with pytest.raises(DataError, match='3 values for 2 joints'):
        reader.read(Float64MultiArray(data=[1.0, 2.0, 3.0]))
    with pytest.raises(DataError, match="joint 'b' is not finite"):
        reader.read(Float64MultiArray(data=[1.0, float('nan')]))


def point(stamp, q, dq=0.0, ddq=0.0, names=('carriage',)):
    message = JointTrajectory(
        joint_names=list(names),
        points=[JointTrajectoryPoint(positions=[q], velocities=[dq], accelerations=[ddq])],
    )
    message.header.stamp = to_stamp(stamp)
    return message


def test_a_reference_is_found_by_its_stamp_and_carried_on():
    buffer = ReferenceBuffer(('carriage',))
    for k in (0, 2, 1):
        buffer.take(point(k * MS, float(k), 3.0, 8.0))
    assert buffer.exact(1 * MS)[0] == 1.0
    assert buffer.at(0 * MS - 1, MS) is None
    late = buffer.at(2 * MS + MS // 2, MS)
    t = 0.5e-3
    assert np.allclose(late.ravel(), [2.0 + 3.0 * t + 4.0 * t**2, 3.0 + 8.0 * t, 8.0], rtol=1e-15)
    assert buffer.at(4 * MS, MS) is None


def test_a_reference_without_velocity_is_refused():
    message = point(0, 1.0)
    message.points[0].velocities = []
    with pytest.raises(DataError, match='0 values of reference velocity'):
        ReferenceBuffer(('carriage',)).take(message)


def test_braking_ends_at_rest_after_the_way_that_physics_says():
    brake = Brake(np.array([[0.0, 1.0], [0.5, -1.0], [0.0, 0.0]]), 0, np.array([2.0, 4.0]))
    assert brake.at(0)[1].tolist() == [0.5, -1.0]
    assert not brake.over(249 * MS)
    assert brake.over(250 * MS)
    end = brake.at(10_000 * MS)
    assert np.allclose(end[0], [0.5**2 / 4.0, 1.0 - 1.0 / 8.0], rtol=1e-12)
    assert np.all(end[1:] == 0.0)


def control(**options):
    robot = load_robot('emps')
    settings = {'lost_s': 0.02, 'gap_s': 0.05, **options}
    return TorqueControl(ComputedTorque(robot, robot.truth()), **settings)


def test_without_a_reference_the_robot_is_held_where_it_stands():
    law = control()
    for k in range(20):
        command = law.step(k * MS, np.array([0.1]))
    assert law.mode is Mode.HOLDING
    assert command.torque == pytest.approx(0.0, abs=1e-9)
    pushed = law.step(20 * MS, np.array([0.1001]))
    assert pushed.torque[0] < 0.0
    assert not pushed.following


def test_a_lost_reference_is_braked_and_held():
    law = control()
    for k in range(230):
        if k < 100:
            speed = 0.2 if k else 0.0
            law.references.take(point(k * MS, 0.2 * k / 1000, speed))
        at = min(0.2 * k / 1000, 0.05)
        command = law.step(k * MS, np.array([at]))
        if k == 130:
            assert law.mode is Mode.BRAKING
    speeds = command.point[1]
    assert np.all(speeds == 0.0)
    assert law.mode is Mode.HOLDING
    # 20 ms carried on, then 0.2^2 / (2 a), a half of the limit of 5 m/s^2.
    assert command.point[0, 0] == pytest.approx(0.2 * 0.12 + 0.2**2 / 5.0, abs=1e-3)


def test_a_reference_far_away_is_not_followed_and_leaving_it_stops():
    law = control()
    law.references.take(point(0, 0.3))
    law.step(0, np.array([0.0]))
    assert law.mode is Mode.HOLDING
    assert "joint 'carriage' is 0.3 from its reference" in law.reason
    law.references.take(point(MS, 0.0))
    law.step(MS, np.array([0.0]))
    assert law.mode is Mode.FOLLOWING
    law.references.take(point(2 * MS, 0.0))
    command = law.step(2 * MS, np.array([0.05]))
    assert law.mode is Mode.STOPPED
    assert command.point[0, 0] == 0.05
    law.references.take(point(3 * MS, 0.05))
    law.step(3 * MS, np.array([0.05]))
    assert law.mode is Mode.STOPPED
    law.restart()
    law.references.take(point(4 * MS, 0.05))
    assert law.step(4 * MS, np.array([0.05])).following


def test_a_reference_that_passes_at_speed_is_met_only_when_it_is_slow():
    law = control()
    law.step(0, np.array([0.1]))
    law.references.take(point(MS, 0.1, 0.3))
    assert not law.step(MS, np.array([0.1])).following
    assert "passes joint 'carriage' at 0.3" in law.reason
    law.references.take(point(2 * MS, 0.1, 0.01))
    assert law.step(2 * MS, np.array([0.1])).following


def test_a_gap_in_the_measurements_starts_anew_from_a_hold():
    law = control()
    law.references.take(point(0, 0.0))
    assert law.step(0, np.array([0.0])).following
    command = law.step(500 * MS, np.array([0.01]))
    assert law.mode is Mode.HOLDING
    assert command.torque == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize('name', ['emps', 'tx40'])
def test_a_player_goes_smoothly_from_the_robot_into_the_motion_and_stops_within_limits(name):
    robot = load_robot(name)
    motion = motion_of(robot)
    player = TrajectoryPlayer(robot, motion, 0, 0.5, 1e-6)
    start = motion.sample(0.0)[0] + 0.02
    player.start(0, start)
    assert player.approach_s > 0.0
    step = 2 * MS
    stop = round((player.approach_s + 0.37 * motion.duration) * 1e9)
    player.stop(stop)
    end = stop + 3 * 10**9
    times = np.arange(0, end, step)
    q, dq, ddq = np.moveaxis(np.array([player.at(int(t)) for t in times]), 1, 0)
    assert np.allclose(q[0], start)
    assert np.all(np.abs(dq[-1]) < 1e-12)
    assert player.over(end)
    assert np.all(np.abs(dq) <= robot.limits.velocity * 1.001)
    assert np.all(np.abs(ddq) <= robot.limits.acceleration * 1.5)
    slope = np.diff(q, axis=0) / 2e-3
    middle = 0.5 * (dq[1:] + dq[:-1])
    assert np.abs(slope - middle).max() < 2e-3 * 0.5 * 2.0 * robot.limits.acceleration.max()


def test_cycles_end_at_the_end_and_a_one_shot_motion_goes_back():
    robot = load_robot('emps')
    way = Quintic([[0.0], [0.2]], 1.0)
    once = TrajectoryPlayer(robot, way, 1, 0.3, 1e-6)
    once.start(0, np.array([0.0]))
    assert once.at(5 * 10**9)[0, 0] == pytest.approx(0.2)
    thrice = TrajectoryPlayer(robot, way, 3, 0.3, 1e-6)
    thrice.start(0, np.array([0.0]))
    end = thrice.at(10**12)
    assert end[0, 0] == pytest.approx(0.2, abs=1e-9)
    assert np.all(end[1:] == 0.0)
    passes = [thrice.at(ns)[0, 0] > 0.19 for ns in range(0, 20 * 10**9, 10**7)]
    assert np.sum(np.diff(np.array(passes, int)) == 1) == 3


def test_a_motion_beyond_the_limits_is_refused_with_the_joint():
    robot = load_robot('emps')
    with pytest.raises(TrajectoryError, match=r"joint 'carriage' to the position 0\.5"):
        TrajectoryPlayer(robot, Quintic([[0.0], [0.5]], 5.0), 1, 0.3, 1e-6)
    with pytest.raises(TrajectoryError, match='velocity'):
        TrajectoryPlayer(robot, Quintic([[0.0], [0.3]], 0.2), 1, 0.3, 1e-6)


@pytest.mark.parametrize('name', ['', '/etc/passwd', '../x.json', 'a/../../x', 'way/out/x'])
def test_no_path_leaves_the_data_directory(name, tmp_path):
    root = tmp_path / 'data'
    (root / 'way').mkdir(parents=True)
    (root / 'way' / 'out').symlink_to(tmp_path)
    with pytest.raises(ForbiddenPath):
        below(root, name)
    assert below(root, 'way/x.json') == (root / 'way/x.json').resolve()


@pytest.fixture(scope='module')
def context():
    own = rclpy.Context()
    rclpy.init(context=own)
    yield own
    rclpy.shutdown(context=own)


@pytest.mark.parametrize(
    ('given', 'told'),
    [
        ({'mode': 'plan'}, "mode: 'plan' is none of plant, closed_loop"),
        ({'rate_hz': -1.0}, 'rate_hz: -1.0 is outside'),
        ({'rate_hz': 'fast'}, "rate_hz: 'fast' is of the wrong type"),
        ({'initial_position': ['a']}, 'initial_position'),
        ({'rate_hs': 5.0}, "no parameter 'rate_hs': did you mean 'rate_hz'"),
    ],
)
def test_parameters_that_cannot_be_used_say_why(context, given, told):
    overrides = [Parameter(key, value=value) for key, value in given.items()]
    node = Node('parameters', context=context, parameter_overrides=overrides)
    try:
        with pytest.raises(OptionError, match=told):
            ParameterTable(node, SIMULATOR_TABLE)
    finally:
        node.destroy_node()


@pytest.mark.parametrize('name', ['ddm_simulator', 'trajectory_generator', 'ctc_controller'])
def test_every_parameter_is_described_and_documented(context, name):
    table = {
        'ddm_simulator': (ROBOT, AUTOSTART, *SIMULATOR_TABLE),
        'trajectory_generator': GENERATOR_TABLE,
        'ctc_controller': (ROBOT, AUTOSTART, *CONTROLLER_TABLE),
    }[name]
    page = (ROOT / f'doc/nodes/{name}.md').read_text()
    node = Node(name, context=context)
    try:
        settings = ParameterTable(node, table)
        for row in table:
            assert f'| `{row.name}` |' in page
            assert settings[row.name] == row.default
            assert row.description in node.describe_parameter(row.name).description
        settings.locked = True
        fixed = next(row for row in table if not row.live)
        verdict = node.set_parameters([Parameter(fixed.name, value='x')])[0]
        assert not verdict.successful
    finally:
        node.destroy_node()
