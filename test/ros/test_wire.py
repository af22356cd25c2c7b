"""Messages read and written as patched bytes against rclpy's own serialisation."""

import array

import numpy as np
import pytest
import rclpy
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.ros.joint_states import JointStates
from robot_id.ros.wire import EFFORTS, POINT, STATE, Layout, Stream

numbers = st.floats(width=64, allow_nan=False)
names = st.lists(st.text('abc_é', max_size=9), max_size=7)


@st.composite
def states(draw):
    joints = draw(names)
    message = JointState(name=joints)
    message.header.frame_id = draw(st.sampled_from(['', 'base', 'a frame']))
    message.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    for field in STATE:
        values = draw(st.lists(numbers, min_size=len(joints), max_size=len(joints)))
        setattr(message, field, array.array('d', draw(st.sampled_from([values, []]))))
    return message


@settings(deadline=None, max_examples=150)
@given(st.lists(states(), min_size=1, max_size=6))
def test_any_sequence_of_states_is_read_as_it_was(messages):
    read = Stream(JointState, STATE)
    for message in messages + messages:
        assert read(serialize_message(message)) == message


@settings(deadline=None, max_examples=50)
@given(states(), st.integers(0, 2**31 * 10**9 - 1), st.integers(0, 1000))
def test_written_bytes_are_the_message(message, ns, seed):
    layout = Layout(message, STATE)
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=len(getattr(message, field))) for field in STATE]
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
    for field, x in zip(STATE, values):
        setattr(message, field, array.array('d', x))
    # Not the bytes: what rclpy leaves between the fields is arbitrary.
    assert deserialize_message(layout.write(ns, *values), JointState) == message


WANTED = ('a', 'b')


@st.composite
def heard(draw):
    """States as a driver sends them: mostly alike, with other names or values now and then."""
    joints = draw(st.sampled_from([['a', 'b'], ['a', 'b'], ['b', 'a'], ['b', 'c', 'a'], ['a']]))
    value = st.sampled_from([0.5, -1.25, 3.0, np.nan, np.inf, 1e300])
    count = draw(st.sampled_from([len(joints), len(joints), len(joints), 0]))
    message = JointState(name=joints, position=[draw(value) for _ in range(count)])
    message.effort = array.array('d', draw(st.sampled_from([[], [1.0] * len(joints)])))
    message.header.stamp.sec, message.header.stamp.nanosec = draw(st.integers(0, 5)), 7
    return message


@pytest.fixture(scope='module')
def hearing():
    """Joint states of a node, fed with bytes; what is taken and what is refused."""
    context = rclpy.context.Context()
    rclpy.init(context=context)
    node = rclpy.node.Node('hearing', context=context)
    taken, refused = [], []
    node.refuse = lambda what, error: refused.append((what, str(error)))
    driver = DriverMapping('', WANTED, {})
    states = JointStates(node, driver, lambda *_: None)
    states.followers.append(lambda ns, position: taken.append((ns, position.tolist())))
    yield states, taken, refused
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def told(message):
    """Return what must be taken and refused, by the message itself."""
    matcher = JointMatcher(WANTED)
    try:
        matcher.match(message.name)
        position = matcher.take(message.position).tolist()
    except DataError as error:
        return [], [('joint state', str(error))]
    return [(message.header.stamp.sec * 10**9 + 7, position)], []


@settings(deadline=None, max_examples=200)
@given(st.lists(heard(), min_size=1, max_size=8))
def test_positions_out_of_the_bytes_are_those_of_the_messages(hearing, messages):
    states, taken, refused = hearing
    for message in [m for m in messages for _ in range(2)]:
        taken.clear(), refused.clear()
        states._hear(0, serialize_message(message))
        assert (taken, refused) == told(message)
    taken.clear(), refused.clear()
    states._hear(0, b'no message')
    assert refused[0][0] == 'message on joint_states'
    states._hear(0, serialize_message(JointState(name=['a', 'b'], position=[1.0, 2.0])))
    assert taken == [(0, [1.0, 2.0])]


def test_numbers_of_one_layout_do_not_stay_in_the_next():
    read = Stream(JointState, STATE)
    one = JointState(name=['a', 'b'], position=[1.0, 2.0])
    for position in ([1.0, 2.0], [np.nan, 4.0], [5.0, 6.0]):
        one.position = position
        found = read(serialize_message(one))
        np.testing.assert_array_equal(found.position, position)
        assert found.name == ['a', 'b']
    other = JointState(name=['b', 'a'], position=[7.0, 8.0])
    assert read(serialize_message(other)) == other
    assert read(serialize_message(one)) == one


def test_bytes_between_the_fields_may_be_anything_and_the_fast_way_is_taken():
    message = JointState(name=['a'], position=[1.0], velocity=[2.0], effort=[3.0])
    data = bytearray(serialize_message(message))
    gap = data.find(b'a\0') + 2
    data[gap : gap + 2] = b'xy'
    read = Stream(JointState, STATE)
    read(bytes(data))
    layout = read.layout
    for k in range(3):
        place = data.find(np.float64(1.0 + k).tobytes())
        data[place : place + 8] = np.float64(2.0 + k).tobytes()
        found = read(bytes(data))
        assert found is layout.message
        assert (found.name, list(found.position)) == (['a'], [2.0 + k])


def test_references_and_efforts():
    point = JointTrajectoryPoint(positions=[1.0], velocities=[2.0], accelerations=[3.0])
    reference = JointTrajectory(joint_names=['a'], points=[point])
    read = Stream(JointTrajectory, POINT)
    for k in range(3):
        point.positions = [float(k)]
        point.time_from_start.sec = k // 2
        assert read(serialize_message(reference)) == reference
    without = JointTrajectory(joint_names=['a'])
    assert read(serialize_message(without)) == without
    efforts = Float64MultiArray(data=[1.0, 2.0])
    efforts.layout.dim = [MultiArrayDimension(label='a,b', size=2, stride=2)]
    read = Stream(Float64MultiArray, EFFORTS)
    for k in range(3):
        efforts.data = [1.0 * k, 2.0]
        assert read(serialize_message(efforts)) == efforts


def test_numbers_of_another_length_are_refused():
    layout = Layout(JointState(name=['a'], position=[0.0]), STATE)
    none = np.empty(0)
    with pytest.raises(ValueError, match='2 numbers'):
        layout.write(0, np.zeros(2), none, none)


@pytest.mark.parametrize('kind', [JointState, JointTrajectory, Float64MultiArray])
def test_bytes_that_are_no_message_are_refused_in_one_line(kind):
    read = Stream(kind, STATE if kind is JointState else EFFORTS)
    for raw in (b'', b'\0\1\0\0', b'\0\1\0\0' + b'\xff' * 60):
        with pytest.raises(DataError, match=f'bytes that are no {kind.__name__}'):
            read(raw)
