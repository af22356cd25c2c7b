"""Two robots side by side in real time; each node killed in turn; late starts in any order."""

import contextlib

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from geometry_msgs.msg import Inertia
from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import EVERYTHING, START_S, Health, graph, node, stamps
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_id.trajectory import Quintic, save_trajectory
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import EnableLearning, SetPayload

# Busy test machines stall for a while: generous time-outs, the logic is the same.
PATIENT = {'autostart': True, 'use_sim_time': False}
SIMULATOR = {**PATIENT, 'command_timeout_s': 0.5, 'noise': False}
CONTROLLER = {**PATIENT, 'state_timeout_s': 0.5, 'reference_timeout_s': 0.2, 'largest_error': 0.5}


def test_two_robots_and_kill_9_of_each_node_in_turn(tmp_path):
    slow = tmp_path / 'slow.yaml'
    way = [[0.0], [0.2], [0.0]]
    save_trajectory(Quintic(way, 3.0, periodic=True), slow, ('carriage',))
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(Client())
        health = Health(client)
        rate = {'rate_hz': 200.0}
        left = {'robot': 'emps', **rate}
        motion = {'trajectory': str(slow)}
        right = {'robot': 'scara', **rate}
        # All at once: nobody depends on the order.
        generator, controller, simulator, *_ = stack.enter_context(
            graph(
                ('trajectory_generator', 'left', {**left, **motion}),
                ('ctc_controller', 'left', {**left, **CONTROLLER}),
                ('ddm_simulator', 'left', {**left, **SIMULATOR}),
                ('ddm_simulator', 'right', {**right, **SIMULATOR, 'mode': 'closed_loop'}),
                ('trajectory_generator', 'right', {**right, 'autostart': True}),
            )
        )
        states = {
            side: client.collect(JointState, f'{side}/joint_states', EVERYTHING)
            for side in ('left', 'right')
        }
        commands = client.collect(Float64MultiArray, 'left/effort_commands', EVERYTHING)

        def mode():
            return health.values('left/ctc_controller: control').get('mode')

        def message(of):
            status = health.of(of)
            return status.message if status else ''

        client.spin_until(lambda: mode() == 'holding', START_S, 'the left robot is held')
        answer = client.call(Trigger, 'left/trajectory_generator/start')
        assert answer.success, answer.message
        client.spin_until(lambda: mode() == 'following', START_S, 'the left robot follows')
        client.spin_until(
            lambda: np.ptp([s.position[0] for s in states['left']]) > 0.1, 60.0, 'it moves'
        )
        client.spin_until(
            lambda: np.ptp([s.position[0] for s in states['right']]) > 0.02, 60.0, 'so does it'
        )
        for side, names in (('left', ['carriage']), ('right', ['shoulder', 'elbow'])):
            assert {tuple(s.name) for s in states[side]} == {tuple(names)}
            assert np.all(np.diff(stamps(states[side])) > 0)

        # The generator dies: the controller brakes and holds.
        generator.kill()
        client.spin_until(lambda: mode() == 'holding', 30.0, 'held without a generator')
        client.spin_until(
            lambda: np.ptp([s.position[0] for s in states['left'][-20:]]) < 1e-4, 30.0, 'at rest'
        )

        # The controller dies: the simulator stops safely, here with zero torque.
        controller.kill()
        client.spin_until(
            lambda: 'safe stop' in message('left/ddm_simulator: simulation'), 30.0, 'safe stop'
        )
        client.spin_until(lambda: states['left'][-1].effort[0] == 0.0, 30.0, 'zero torque')

        # Both come back, late, and it goes on.
        stack.enter_context(
            graph(
                ('ctc_controller', 'left', {**left, **CONTROLLER}),
                ('trajectory_generator', 'left', {**left, **motion, 'autostart': True}),
            )
        )
        client.spin_until(
            lambda: message('left/ddm_simulator: simulation') == 'running', START_S, 'running'
        )
        client.spin_until(lambda: mode() == 'following', START_S, 'it follows again')

        # The robot dies: zero torque until it is back, then it is held, not thrown.
        simulator.kill()
        client.spin_until(
            lambda: 'zero torque' in message('left/ctc_controller: control'), 30.0, 'watchdog'
        )
        client.spin_until(lambda: list(commands[-1].data) == [0.0], 30.0, 'zero torque')
        stack.enter_context(node('ddm_simulator', 'left', **left, **SIMULATOR))
        client.spin_until(lambda: mode() in ('holding', 'following'), START_S, 'it is back')
        answer = client.call(Trigger, 'left/trajectory_generator/stop')
        # Services of one robot do not reach the other.
        request = SetPayload.Request(inertia=Inertia(m=0.5))
        answer = client.call(SetPayload, 'right/ddm_simulator/set_payload', request)
        assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
        request = EnableLearning.Request(enable=True)
        assert client.call(EnableLearning, 'left/ctc_controller/enable_learning', request).enabled
        payload = {'left': 'False', 'right': 'True'}
        client.spin_until(
            lambda: all(
                health.values(f'{side}/ddm_simulator: simulation').get('payload') == loaded
                for side, loaded in payload.items()
            ),
            30.0,
            'the payload of the right robot alone',
        )
        # Of all that the right robot did, nothing was disturbed.
        assert np.all(np.diff(stamps(states['right'])) > 0)
        assert message('right/ddm_simulator: simulation') == 'running'


@pytest.mark.parametrize(
    ('name', 'parameters', 'told'),
    [
        ('trajectory_generator', {'robot': 'emsp'}, "did you mean 'emps'"),
        ('ddm_simulator', {'robot': 'emps', 'rate_hs': 5.0}, "did you mean 'rate_hz'"),
    ],
)
def test_parameters_that_cannot_be_used_end_in_one_line_and_exit_code_2(name, parameters, told):
    with NodeProcess(name, parameters=parameters) as process:
        assert process.wait(60.0) == 2
        lines = [line for line in process.log.splitlines() if 'FATAL' in line]
        assert len(lines) == 1
        assert told in lines[0]
        assert 'Traceback' not in process.log
