"""Joints of another device on the topic of the robot."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from running.client import Client
from running.robot_graph import START_S, Health, graph
from sensor_msgs.msg import JointState

from robot_id.data.joint_order import JointMatcher, OtherJoints
from robot_id.exceptions import DataError
from robot_id.ros.durations import to_stamp


def test_a_missing_joint_is_a_mistake_and_another_device_is_none():
    matcher = JointMatcher(('a', 'b'))
    with pytest.raises(OtherJoints):
        matcher.match(['finger'])
    for names in (['a'], ['a', 'finger'], []):
        with pytest.raises(DataError) as caught:
            matcher.match(names)
        assert not isinstance(caught.value, OtherJoints)
    matcher.match(['finger', 'b', 'a'])
    assert matcher.take([3.0, 2.0, 1.0]).tolist() == [1.0, 2.0]


def test_a_gripper_on_the_topic_costs_one_line_of_log():
    settings = {'robot': 'emps', 'rate_hz': 100.0}
    nodes = (
        ('trajectory_generator', 'hand', {**settings, 'start_motion': True}),
        ('online_identifier', 'hand', settings),
    )
    with Client(namespace='hand') as client, graph(*nodes) as processes:
        health = Health(client)
        publisher = client.node.create_publisher(JointState, 'joint_states', 10)
        client.spin_until(
            lambda: publisher.get_subscription_count() >= 2, START_S, 'both nodes listen'
        )
        for k in range(300):
            stamp = to_stamp(10**9 + k * 10**7)
            arm = JointState(name=['carriage'], position=[0.0], velocity=[0.0], effort=[0.0])
            finger = JointState(name=['finger'], position=[0.04])
            for message in (arm, finger):
                message.header.stamp = stamp
                publisher.publish(message)
            client.spin_for(0.01)
        processes[0].wait_for_log('playing', START_S)
        client.spin_until(
            lambda: int(health.values('reference').get('of_other_joints', 0)) > 200,
            START_S,
            'counted',
        )
        assert health.values('reference')['refused'] == '0'
        assert int(health.values('estimation')['rejected']) == 0
        for process in processes:
            assert process.log.count('finger') == 1, process.log
