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
from running.soft_loop import soft_robot_file
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


RATE = {'rate_hz': 200.0}
RIGHT = {'robot': 'scara', **RATE}


class TwoRobots:
    """An EMPS on the left under our controller, a SCARA on the right under its own."""

    def __init__(self, stack, folder):
        self.stack = stack
        self.client = stack.enter_context(Client())
        self.health = Health(self.client)
        slow = folder / 'slow.yaml'
        way = [[0.0], [0.2], [0.0]]
        save_trajectory(Quintic(way, 3.0, periodic=True), slow, ('carriage',))
        # A loop that bears the stalls of the machine: the one of the file bears 4 ms at most.
        self.left = {'robot': str(soft_robot_file('emps', folder, 200.0)), **RATE}
        self.motion = {'trajectory': str(slow)}
        self.states = {
            side: self.client.collect(JointState, f'{side}/joint_states', EVERYTHING)
            for side in ('left', 'right')
        }
        self.commands = self.client.collect(Float64MultiArray, 'left/effort_commands', EVERYTHING)

    def start(self):
        """Start all nodes at once, since nobody depends on the order; return those on the left."""
        return self.stack.enter_context(
            graph(
                ('trajectory_generator', 'left', {**self.left, **self.motion}),
                ('ctc_controller', 'left', {**self.left, **CONTROLLER}),
                ('ddm_simulator', 'left', {**self.left, **SIMULATOR}),
                ('ddm_simulator', 'right', {**RIGHT, **SIMULATOR, 'mode': 'closed_loop'}),
                ('trajectory_generator', 'right', {**RIGHT, 'start_motion': True}),
            )
        )[:3]

    def mode(self):
        return self.health.values('left/ctc_controller: control').get('mode')

    def message(self, of):
        status = self.health.of(of)
        return status.message if status else ''

    def wait(self, condition, seconds, what):
        self.client.spin_until(condition, seconds, what)

    def moves(self, side, by):
        """Return whether the first joint has moved by so much."""
        positions = [s.position[0] for s in self.states[side]]
        return bool(positions) and np.ptp(positions) > by


def test_two_robots_and_kill_9_of_each_node_in_turn(tmp_path):
    with contextlib.ExitStack() as stack:
        two = TwoRobots(stack, tmp_path)
        generator, controller, simulator = two.start()
        both_move(two)
        generator_and_controller_die(two, generator, controller)
        both_come_back_and_the_robot_dies(two, simulator)
        services_reach_one_robot_alone(two)
        # Of all that the right robot did, nothing was disturbed.
        assert np.all(np.diff(stamps(two.states['right'])) > 0)
        # A busy machine may make it slow, which it says; it never stopped.
        told = two.message('right/ddm_simulator: simulation')
        assert told.startswith(('running', 'slower than real time'))


def both_move(two):
    two.wait(lambda: two.mode() == 'holding', START_S, 'the left robot is held')
    answer = two.client.call(Trigger, 'left/trajectory_generator/start')
    assert answer.success, answer.message
    two.wait(lambda: two.mode() == 'following', START_S, 'the left robot follows')
    two.wait(lambda: two.moves('left', 0.1), 60.0, 'it moves')
    two.wait(lambda: two.moves('right', 0.02), 60.0, 'so does it')
    for side, names in (('left', ['carriage']), ('right', ['shoulder', 'elbow'])):
        assert {tuple(s.name) for s in two.states[side]} == {tuple(names)}
        assert np.all(np.diff(stamps(two.states[side])) > 0)


def generator_and_controller_die(two, generator, controller):
    """The controller brakes and holds; then the simulator stops safely, here with zero torque."""
    left = two.states['left']
    generator.kill()
    two.wait(lambda: two.mode() == 'holding', 30.0, 'held without a generator')
    two.wait(lambda: np.ptp([s.position[0] for s in left[-20:]]) < 1e-4, 30.0, 'at rest')
    controller.kill()
    two.wait(
        lambda: 'safe stop' in two.message('left/ddm_simulator: simulation'), 30.0, 'safe stop'
    )
    two.wait(lambda: left[-1].effort[0] == 0.0, 30.0, 'zero torque')


def both_come_back_and_the_robot_dies(two, simulator):
    """It goes on; then zero torque until the robot is back, which is held, not thrown."""
    two.stack.enter_context(
        graph(
            ('ctc_controller', 'left', {**two.left, **CONTROLLER}),
            ('trajectory_generator', 'left', {**two.left, **two.motion, 'start_motion': True}),
        )
    )
    two.wait(
        lambda: two.message('left/ddm_simulator: simulation') == 'running', START_S, 'running'
    )
    two.wait(lambda: two.mode() == 'following', START_S, 'it follows again')
    simulator.kill()
    two.wait(
        lambda: 'zero torque' in two.message('left/ctc_controller: control'), 30.0, 'watchdog'
    )
    two.wait(lambda: list(two.commands[-1].data) == [0.0], 30.0, 'zero torque')
    two.stack.enter_context(node('ddm_simulator', 'left', **two.left, **SIMULATOR))
    two.wait(lambda: two.mode() in ('holding', 'following'), START_S, 'it is back')
    two.client.call(Trigger, 'left/trajectory_generator/stop')


def services_reach_one_robot_alone(two):
    request = SetPayload.Request(inertia=Inertia(m=0.5))
    answer = two.client.call(SetPayload, 'right/ddm_simulator/set_payload', request)
    assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
    request = EnableLearning.Request(enable=True)
    assert two.client.call(EnableLearning, 'left/ctc_controller/enable_learning', request).enabled
    payload = {'left': 'False', 'right': 'True'}
    two.wait(
        lambda: all(
            two.health.values(f'{side}/ddm_simulator: simulation').get('payload') == loaded
            for side, loaded in payload.items()
        ),
        30.0,
        'the payload of the right robot alone',
    )


@pytest.mark.parametrize(
    ('name', 'parameters', 'told'),
    [
        ('trajectory_generator', {'robot': 'emsp'}, "did you mean 'emps'"),
        ('identify_once', {'method': 'idim_wsl'}, "did you mean 'idim_wls'"),
        ('ddm_simulator', {'robot': 'emsp', 'autostart': True}, "did you mean 'emps'"),
        ('ddm_simulator', {'robot': 'emps', 'rate_hs': 5.0}, "did you mean 'rate_hz'"),
    ],
)
def test_parameters_that_cannot_be_used_end_in_one_line_and_exit_code_2(name, parameters, told):
    with NodeProcess(name, parameters=parameters) as process:
        assert process.wait(60.0) == 2
        lines = [line for line in process.log.splitlines() if 'FATAL' in line or 'ERROR' in line]
        assert len(lines) == 1
        assert told in lines[0]
        assert 'Traceback' not in process.log
