"""The policy of SROS 2 allows each node what it does in the running graph, and no more."""

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from security_policy import seen, stated


def test_the_policy_is_that_of_the_graph():
    assert stated() == seen(), 'write it anew: tools/isolated.py python tools/security_policy.py'
