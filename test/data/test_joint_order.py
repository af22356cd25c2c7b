"""Joints of messages are matched by name."""

import numpy as np
import pytest
from errors import refused
from hypothesis import given
from hypothesis import strategies as st

from robot_id.data.joint_order import JointMatcher, joint_order
from robot_id.exceptions import DataError, OptionError


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
        (['a', 'b', 'c'], [1, 1e308, 2], "position of joint 'b' is 1e\\+308"),
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
    with refused(OptionError, joint='b', key='joints'):
        joint_order(('a', 'b'), ['a'], 'joints')
    with refused(OptionError, joint='x', key='joints'):
        joint_order(('a', 'b'), ['a', 'x'], 'joints')
