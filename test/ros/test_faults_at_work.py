"""A robot that moves and learns in real time: its learner and its controller die."""

import os
import signal

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from running.client import Client
from running.robot_graph import EVERYTHING, START_S, Health, graph, stamps
from running.soft_loop import soft_robot_file
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

RATE_HZ = 200.0
# Busy test machines stall for a while: generous time-outs, the logic is the same.
CONTROLLER = {'state_timeout_s': 1.0, 'reference_timeout_s': 0.2, 'largest_error': 10.0}
LEARNER = {'learning': True, 'window_s': 2.0}
SIMULATOR = {'command_timeout_s': 1.0, 'noise': False}


@pytest.fixture
def common(tmp_path):
    """An EMPS whose loop bears those stalls, too."""
    robot = str(soft_robot_file('emps', tmp_path, RATE_HZ))
    return {'robot': robot, 'rate_hz': RATE_HZ, 'autostart': True, 'start_motion': True}


@pytest.mark.parametrize('end', [signal.SIGTERM, signal.SIGINT])
def test_kill_9_of_the_learner_and_a_signal_to_the_controller(end, common):
    nodes = (
        ('control_loop', 'work', {**common, **CONTROLLER, **LEARNER}),
        ('ddm_simulator', 'work', {**common, **SIMULATOR}),
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
        client.spin_until(
            lambda: list(commands[-1].data) == [0.0], START_S, 'zero as the last word'
        )
        client.spin_until(lambda: states[-1].effort[0] == 0.0, START_S, 'zero torque on the robot')


def test_kill_9_of_the_loop_while_the_robot_moves(common):
    """The last torque is held for command_timeout_s of the robot's own time, then it is zero."""
    timeout, slow = 0.1, {'real_time_factor': 0.25}
    nodes = (
        ('control_loop', 'dies', {**common, **CONTROLLER}),
        # Slowed down: the time-out of the robot is short, as a user has it.
        ('ddm_simulator', 'dies', {**common, **SIMULATOR, **slow, 'command_timeout_s': timeout}),
    )
    with Client(namespace='dies') as client, graph(*nodes) as (loop, _):
        health = Health(client)
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        control = 'ctc_controller: control'
        client.spin_until(
            lambda: health.values(control).get('mode') == 'following', START_S, 'it moves'
        )
        client.spin_until(
            lambda: (
                len({state.effort[0] for state in states[-50:]}) > 5
                and abs(states[-1].effort[0]) > 1.0
                and abs(states[-1].velocity[0]) > 0.02
            ),
            START_S,
            'torques that change, and speed',
        )
        loop.kill()
        client.spin_until(lambda: states[-1].effort[0] == 0.0, START_S, 'zero torque')
        client.spin_for(1.0)
        effort = np.array([state.effort[0] for state in states])
        (zero,) = np.flatnonzero(np.diff((effort == 0.0).astype(int)) > 0)[-1:] + 1
        assert not effort[zero:].any()
        held = zero - 1 - np.flatnonzero(effort[:zero] != effort[zero - 1])[-1]
        period = np.median(np.diff(stamps(states))) / 1e9
        # On a stalled machine the last answer was old already when the loop was killed.
        assert timeout - 3.0 * period <= held * period <= 3.0 * timeout
        client.spin_until(
            lambda: 'safe stop' in health.of('ddm_simulator: simulation').message, START_S, 'told'
        )
