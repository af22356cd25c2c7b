"""The reference of a joint_trajectory_controller from its states in a bag, old and new."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id import data
from robot_id.data.io.bags.growing import GrowingBag
from robot_id.data.io.bags.mcap_writer import Channel
from robot_id.data.io.bags.types import (
    CONTROLLER_STATE,
    JOINT_STATE,
    TRAJECTORY,
    channel,
    joint_state,
)
from robot_id.exceptions import DataError

rosbags = pytest.importorskip('rosbags.typesys')
NAMES = ('shoulder', 'elbow')
POINT = 'trajectory_msgs/JointTrajectoryPoint'
OLD = f"""std_msgs/Header header
string[] joint_names
{POINT} desired
{POINT} actual
{POINT} error
"""
NEW = f"""std_msgs/Header header
string[] joint_names
{POINT} reference
{POINT} feedback
{POINT} error
{POINT} output
string[] multi_dof_joint_names
float64 speed_scaling_factor
"""


def write(path, fields, first, orders, topic='controller_state', others=()):
    """Write joint states and controller states, serialised by the library rosbags."""
    from running.typestore import typestore

    store = rosbags.get_typestore(rosbags.Stores.ROS2_JAZZY)
    store.register(rosbags.get_types_from_msg(fields, CONTROLLER_STATE))
    kinds = typestore().types | store.types
    point, header = kinds['trajectory_msgs/msg/JointTrajectoryPoint'], kinds['std_msgs/msg/Header']
    duration, stamp = (kinds[f'builtin_interfaces/msg/{n}'] for n in ('Duration', 'Time'))
    kind, rng = kinds[CONTROLLER_STATE], np.random.default_rng(0)
    channels = [
        channel('/joint_states', JOINT_STATE),
        Channel(f'/arm_controller/{topic}', CONTROLLER_STATE, fields),
        # Nobody published it.
        channel('/reference', TRAJECTORY),
        *(Channel(name, CONTROLLER_STATE, fields) for name in others),
    ]
    wanted, messages = [], []
    for k in range(60):
        ns = 10**9 + 4 * 10**6 * k
        q, dq, ddq = np.sin(0.01 * k + np.arange(3)[:, None] + np.arange(2))
        wanted.append((q, dq, ddq))
        values = rng.normal(size=(3, 2))
        messages.append((0, ns, joint_state(NAMES, *values, stamp_ns=ns)))
        order = orders[k % len(orders)]

        def made(*arrays, k=k):
            rows = [*arrays, *[np.empty(0)] * (4 - len(arrays))]
            return point(*rows, duration(k, 7))

        rows = [made(q[order], dq[order], ddq[order])]
        # What follows differs from message to message, also in length.
        rows += [made(rng.normal(size=2)), made(*rng.normal(size=(1 + k % 2, 2)))]
        rows += [made(rng.normal(size=2)), [], 0.5] if first == 'reference' else []
        names = [NAMES[i] for i in order]
        state = kind(header(stamp(*divmod(ns, 10**9)), ''), names, *rows)
        messages.append((1, ns, bytes(store.serialize_cdr(state, CONTROLLER_STATE))))
    bag = GrowingBag(path, channels)
    bag.write(messages)
    bag.close()
    return [np.array(each) for each in zip(*wanted)]


@pytest.mark.parametrize(('fields', 'first'), [(OLD, 'desired'), (NEW, 'reference')])
@pytest.mark.parametrize('orders', [([0, 1],), ([1, 0],)], ids=['in order', 'reversed'])
def test_the_reference_is_that_of_the_controller(tmp_path, fields, first, orders):
    wanted = write(tmp_path / 'bag', fields, first, orders)
    run = data.load(tmp_path / 'bag').runs[0]
    assert run.reference_position == pytest.approx(wanted[0])
    assert run.reference_velocity == pytest.approx(wanted[1])
    assert run.reference_acceleration == pytest.approx(wanted[2])


def test_the_reference_is_found_in_the_older_topic(tmp_path):
    """The newer one is listed by the logger, and empty."""
    empty = ('/arm_controller/controller_state',)
    wanted = write(tmp_path / 'bag', OLD, 'desired', ([0, 1],), 'state', empty)
    assert data.load(tmp_path / 'bag').runs[0].reference_position == pytest.approx(wanted[0])


def test_of_two_controllers_a_mapping_names_one(tmp_path):
    wanted = write(
        tmp_path / 'bag', NEW, 'reference', ([0, 1],), others=('/other/controller_state',)
    )
    with pytest.raises(DataError) as caught:
        data.load(tmp_path / 'bag')
    assert caught.value.code == 'several_topics'
    (tmp_path / 'map.yaml').write_text('topics: {reference: /arm_controller/controller_state}')
    run = data.load(tmp_path / 'bag', mapping=tmp_path / 'map.yaml').runs[0]
    assert run.reference_position == pytest.approx(wanted[0])
