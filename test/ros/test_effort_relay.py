"""The relay between a controller and a driver without a time-out."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

import numpy as np
from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import EVERYTHING, START_S, Health, bring_up, graph, node
from running.soft_loop import soft_robot_file
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

RELAYED = 'effort_relay/commands'


def test_commands_pass_as_they_are_and_zero_follows_the_last():
    with Client(namespace='relay') as client, node('effort_relay', 'relay') as relay:
        heard = client.collect(Float64MultiArray, 'effort_commands', EVERYTHING)
        health = Health(client)
        publisher = client.node.create_publisher(Float64MultiArray, RELAYED, 10)
        client.spin_until(
            lambda: (
                publisher.get_subscription_count()
                and client.node.count_publishers('effort_commands')
            ),
            START_S,
            'the relay',
        )
        client.spin_for(0.3)
        assert not heard, 'nothing is sent before the first command'
        for k in range(20):
            publisher.publish(Float64MultiArray(data=[1.0 + k, -2.0]))
            client.spin_until(lambda k=k: len(heard) > k, START_S, f'command {k}')
        # What is not finite is not passed on; a stop follows it as it follows silence.
        publisher.publish(Float64MultiArray(data=[float('nan'), 0.0]))
        client.spin_until(lambda: list(heard[-1].data) == [0.0, 0.0], START_S, 'zero')
        passed = np.array([message.data for message in heard])
        first = int(np.flatnonzero(~passed.any(axis=1))[0])
        assert not passed[first:].any()
        assert passed[:first].tolist() == [[1.0 + k, -2.0] for k in range(20)]
        relay.wait_for_log('no command: zero torque', START_S)
        client.spin_until(lambda: health.of('effort_relay: relay'), START_S, 'its health')
        client.spin_until(
            lambda: 'zero torque' in health.of('effort_relay: relay').message, START_S, 'told'
        )
        assert int(health.values('effort_relay: relay')['refused']) == 1
        publisher.publish(Float64MultiArray(data=[3.0, 4.0]))
        client.spin_until(lambda: [3.0, 4.0] in [list(m.data) for m in heard], START_S, 'again')
        relay.interrupt()
        client.spin_until(lambda: list(heard[-1].data) == [0.0, 0.0], START_S, 'zero at the end')


def test_kill_9_of_the_controller_leaves_no_torque_on_a_driver_that_repeats_for_ever(tmp_path):
    """The robot has no time-out of its own within the test: ten seconds."""
    # A loop, and bounds, that bear a busy machine.
    file = soft_robot_file('emps', tmp_path, 200.0)
    common = {'robot': str(file), 'rate_hz': 200.0}
    plant = {**common, 'command_timeout_s': 10.0, 'noise': False, 'autostart': True}
    controller = {
        **common, 'state_timeout_s': 0.5, 'reference_timeout_s': 0.2, 'largest_error': 0.5,
        'soft_start_s': 0.0,
    }  # fmt: skip
    with (
        Client(namespace='stock') as client,
        NodeProcess(
            'ctc_controller', namespace='stock', parameters=controller,
            remap={'effort_commands': RELAYED},
        ) as control,
        graph(
            ('effort_relay', 'stock', {'timeout_s': 0.1}),
            ('ddm_simulator', 'stock', plant),
            ('trajectory_generator', 'stock', common),
        ),
    ):  # fmt: skip
        control.wait_for_log('ready', START_S)
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        heard = client.collect(Float64MultiArray, 'effort_commands', EVERYTHING)
        bring_up(client, 'ctc_controller')
        # A motion that is under way would pass the robot at speed, and not be joined.
        assert client.call(Trigger, 'trajectory_generator/start', timeout=START_S).success

        def moves():
            assert '[ERROR]' not in control.log, control.log
            return any(abs(message.data[0]) > 1.0 for message in heard)

        client.spin_until(moves, START_S, 'torques')
        client.spin_until(lambda: states, START_S, 'joint states')
        control.kill()
        client.spin_until(lambda: not states[-1].effort[0], START_S, 'zero torque on the robot')
        client.spin_for(0.5)
        assert not any(state.effort[0] for state in states[-20:])
        assert not heard[-1].data[0]
