"""A robot that moves and learns in real time: its learner is killed, then its controller ends."""

import os
import signal

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from running.client import Client
from running.robot_graph import EVERYTHING, START_S, Health, graph
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

COMMON = {'robot': 'emps', 'rate_hz': 200.0, 'autostart': True}
# Busy test machines stall for a while: generous time-outs, the logic is the same.
CONTROLLER = {'state_timeout_s': 1.0, 'reference_timeout_s': 0.2, 'largest_error': 0.5}
LEARNER = {'learning': True, 'window_s': 2.0}
SIMULATOR = {**COMMON, 'command_timeout_s': 1.0, 'noise': False}


@pytest.mark.parametrize('end', [signal.SIGTERM, signal.SIGINT])
def test_kill_9_of_the_learner_and_a_signal_to_the_controller(end):
    nodes = (
        ('control_loop', 'work', {**COMMON, **CONTROLLER, **LEARNER}),
        ('ddm_simulator', 'work', SIMULATOR),
    )
    with Client(namespace='work') as client, graph(*nodes) as (loop, _):
        health = Health(client)
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        commands = client.collect(Float64MultiArray, 'effort_commands', EVERYTHING)

        def learning(key):
            return int(health.values('ctc_controller: learning').get(key, 0))

        client.spin_until(lambda: learning('windows') >= 1, START_S, 'a first window')
        before, lost = learning('learner_pid'), learning('lost')
        sent = len(commands)
        os.kill(before, signal.SIGKILL)
        client.spin_until(lambda: learning('lost') > lost, START_S, 'the window that was lost')
        assert 'the learner process ended (-9)' in health.values('learning')['last_refusal']
        windows = learning('windows')
        client.spin_until(lambda: learning('windows') > windows, START_S, 'the next window')
        assert learning('learner_pid') != before
        # The robot went on as before all the while.
        assert len(commands) - sent > 200
        assert health.values('ctc_controller: control')['mode'] == 'following'

        # SIGINT or SIGTERM in the middle of the motion: the last command is zero torque.
        loop.process.send_signal(end)
        assert loop.wait(60.0) == 0, loop.log
        assert 'Traceback' not in loop.log
        client.spin_until(lambda: list(commands[-1].data) == [0.0], 20.0, 'zero as the last word')
        client.spin_until(lambda: states[-1].effort[0] == 0.0, 20.0, 'zero torque on the robot')
