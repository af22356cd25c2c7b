"""Several controllers on one robot, which the test itself plays: never two that send."""

from __future__ import annotations

import time

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from running.client import Client
from running.node_process import NodeProcess
from running.played_robot import PlayedRobot
from running.robot_graph import START_S
from std_msgs.msg import Float64MultiArray, Header

from robot_id.ros.durations import to_stamp
from robot_id.ros.sole_publisher import CLAIMS
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import EnableLearning

SETTINGS = {'robot': 'scara', 'rate_hz': 1000.0, 'state_timeout_s': 6.0, 'soft_start_s': 0.0}
NAMES = 'first', 'second'
UP, DOWN = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE


class Pair:
    """Two controllers that are configured, and a robot that sends its state all the time."""

    def __init__(self, client, processes):
        self.client, self.node = client, client.node
        self.processes = processes
        self.robot = PlayedRobot(client)
        self.claims = self.client.collect(Header, 'effort_commands/owner', CLAIMS)
        self.words = self.node.create_publisher(Header, 'effort_commands/owner', CLAIMS)
        self.node.create_timer(0.02, self.drift)

    def drift(self):
        # Away from where it is held: an answer is never zero torque.
        self.robot.publish([0.1 + 1e-15 * self.robot.ns, -0.2])

    def state(self, name):
        return self.client.call(GetState, f'{name}/get_state').current_state.id

    def active(self):
        return [name for name in NAMES if self.state(name) == State.PRIMARY_STATE_ACTIVE]

    def change(self, name, transition):
        return self.client.change_state(name, transition, START_S)

    def senders(self):
        found = self.node.get_publishers_info_by_topic('/alone/effort_commands')
        return {info.node_name for info in found}

    def wait(self, condition, what):
        self.client.spin_until(condition, START_S, what)


@pytest.fixture(scope='module')
def pair():
    processes = {
        name: NodeProcess(
            'ctc_controller', parameters=SETTINGS, namespace='alone', remap={'__node': name}
        )
        for name in NAMES
    }
    with Client(namespace='alone') as client, processes['first'], processes['second']:
        for name in NAMES:
            processes[name].wait_for_log('ready', START_S)
            assert client.change_state(name, Transition.TRANSITION_CONFIGURE, START_S)
        yield Pair(client, processes)
        for process in processes.values():
            process.interrupt()
        for process in processes.values():
            assert process.stop() == 0, process.log


@pytest.fixture
def silent(pair):
    """Both inactive, and each has found the other."""
    for name in pair.active():
        # One that heard of the other late retires by itself meanwhile.
        assert pair.change(name, DOWN) or name not in pair.active()
    pair.wait(lambda: pair.senders() == set(NAMES), 'both publishers')
    return pair


def test_while_one_sends_the_other_is_refused_and_may_run_dry(silent):
    pair = silent
    assert pair.change('first', UP)
    pair.wait(lambda: pair.robot.commands, 'commands of the first')
    # Refused, or on a stalled machine let in and sent off as soon as it hears the first.
    pair.change('second', UP)
    pair.wait(lambda: pair.active() == ['first'], 'the second to be inactive')
    told = 'the robot has a controller already: /alone/first sends'
    pair.processes['second'].wait_for_log(told)
    # As a dry run it may stand beside: it shows what it would send.
    assert pair.change('second', Transition.TRANSITION_CLEANUP)
    assert all(v.successful for v in pair.client.set_parameters('second', {'dry_run': True}))
    assert pair.change('second', Transition.TRANSITION_CONFIGURE)
    shown = pair.client.collect(Float64MultiArray, 'second/dry_run_commands', 100)
    assert pair.change('second', UP)
    pair.wait(lambda: len(shown) > 20, 'commands of the dry run')
    assert pair.senders() == {'first'}
    request = EnableLearning.Request(enable=True)
    answer = pair.client.call(EnableLearning, 'second/enable_learning', request)
    assert answer.error_code == ErrorCode.INVALID_STATE
    assert pair.change('second', DOWN)
    assert pair.change('second', Transition.TRANSITION_CLEANUP)
    assert all(v.successful for v in pair.client.set_parameters('second', {'dry_run': False}))
    assert pair.change('second', Transition.TRANSITION_CONFIGURE)


def test_of_two_that_are_activated_in_the_same_instant_one_stays(silent):
    pair = silent
    request = ChangeState.Request(transition=Transition(id=UP))
    clients = [pair.node.create_client(ChangeState, f'{name}/change_state') for name in NAMES]
    for each in clients:
        pair.wait(each.service_is_ready, 'the services')
    # Nobody sends while they listen, so that each finds itself alone.
    answers = [each.call_async(request) for each in clients]
    pair.wait(lambda: all(answer.done() for answer in answers), 'both answers')
    pair.wait(lambda: len(pair.active()) == 1, 'one of them')
    (left,) = pair.active()
    pair.client.spin_for(1.0)
    assert pair.active() == [left]
    for each in clients:
        pair.node.destroy_client(each)


def test_one_that_finds_an_earlier_one_late_retires_and_tells_a_later_one(silent):
    pair = silent
    assert pair.change('first', UP)
    pair.wait(lambda: pair.robot.commands, 'commands')
    pair.wait(lambda: any('/alone/first' in claim.frame_id for claim in pair.claims), 'its claim')
    told = len(pair.claims)
    later = Header(stamp=to_stamp(time.time_ns() + 10**9), frame_id='/other/late 0')
    pair.words.publish(later)
    pair.wait(
        lambda: any('/alone/first' in claim.frame_id for claim in pair.claims[told:]),
        'its claim again',
    )
    assert pair.active() == ['first']
    pair.words.publish(Header(stamp=to_stamp(10**9), frame_id='/other/early 0'))
    pair.wait(lambda: not pair.active(), 'it retires')
    pair.processes['first'].wait_for_log('already: /other/early sends commands; this one stops')
    # Its last command may still be on the way when it has retired.
    pair.client.spin_for(0.5)
    # Without a word: zero torque would reach a robot that the other one controls.
    assert any(pair.robot.commands[-1].data)
    at = len(pair.robot.commands)
    pair.client.spin_for(0.5)
    assert len(pair.robot.commands) == at
    pair.words.publish(Header())
