"""
The motion player on a position-controlled arm of MuJoCo, as processes: what the arm does.

Its faults are in test/tasks/test_playing_faults.py, in simulated time.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(180)]
pytest.importorskip('mujoco')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from ros_helpers.position_cell import ACCELERATION, HOME, plant_cell, write_arm
from running.node_process import NodeProcess
from std_srvs.srv import Trigger

from robot_id_msgs.action import Play
from robot_id_msgs.msg import ErrorCode

RECORD = {'record': True}
# A bug in what watches the robot, once it is on its motion.
FAULTY = """
from robot_id.nodes import motion_player as node
node.MotionPlayer._feed_back = lambda self, *_: 1 / (self._phase != 'motion')
node.main()
"""


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    return write_arm(tmp_path_factory.mktemp('arm'))


def play(cell, speeds):
    """Send the goal to play these speeds."""
    return cell.client.send_goal(Play, 'motion_player/play', Play.Goal(speeds=speeds))


@pytest.fixture
def cell(arm, request):
    """Start plant and player with the parameters of the test."""
    given = {
        'command': 'motion_player',
        'robot': str(arm.robot),
        'trajectory': str(arm.motion),
        'data_directory': str(arm.folder),
        'record': False,
        'sim': True,
        'approach_share': 1.0,
        'stall_s': 5.0,
        # A busy machine may leave out joint states for longer than a robot's.
        'state_timeout_s': 5.0,
        **getattr(request, 'param', {}),
    }
    with contextlib.ExitStack() as stack:
        found = stack.enter_context(plant_cell(arm, 'cell'))
        player = NodeProcess(given.pop('command'), parameters=given, namespace='cell')
        found.player = stack.enter_context(player)
        player.wait_for_log('ready', 120)
        try:
            yield found
        except BaseException:
            print(player.log)
            raise


def seconds(duration):
    return duration.sec + 1e-9 * duration.nanosec


def test_it_plays_each_speed_records_the_reference_and_returns(cell, arm):
    from robot_id import data

    folder = arm.folder
    settings = {'data_directory': str(folder)}
    with NodeProcess('data_logger', parameters=settings, namespace='cell') as logger:
        logger.wait_for_log('ready', 120)
        assert all(r.successful for r in cell.client.set_parameters('motion_player', RECORD))
        goal = play(cell, [0.5, 1.0])
        assert goal.accepted
        _, result = goal.result()
    assert (result.error_code, result.error_string) == (0, '')
    assert [each.speed for each in result.played] == [0.5, 1.0]
    for each in result.played:
        assert seconds(each.planned) == pytest.approx(4.0 / each.speed)
        assert 0.95 * seconds(each.planned) < seconds(each.executed)
        assert 0.0 < each.tracking_error < 0.1
        # Four seconds at half the speed excite little: a caution, which the check may tell.
        allowed = {'excitation'} if each.speed < 1.0 else set()
        assert {line.split()[0] for line in each.findings} <= allowed
        run = data.load(folder / each.bag).runs[0]
        # The reference of the controller's states.
        assert np.abs(run.reference_position - run.position).max() < 0.1
        assert np.ptp(run.reference_position, axis=0).max() > 0.1
    assert {'approach', 'motion', 'return'} <= {each.phase for each in goal.feedback}
    figures = cell.stand()
    assert figures['position'] == pytest.approx(HOME, abs=5e-3)
    assert figures['acceleration'] < 1.05 * ACCELERATION


@pytest.mark.parametrize('cell', [{'interface': 'topic'}], indirect=True)
def test_without_the_action_the_topic_serves(cell):
    _, result = play(cell, [1.0]).result()
    assert (result.error_code, result.error_string) == (0, '')
    assert cell.stand()['position'] == pytest.approx(HOME, abs=5e-3)


def test_a_rejected_trajectory_moves_nothing(cell):
    cell.change(rejects=True)
    _, result = play(cell, [1.0]).result()
    assert result.error_code == ErrorCode.REFUSED
    assert 'rejected' in result.error_string
    figures = cell.figures()
    assert figures['stands']
    assert figures['position'] == pytest.approx(HOME, abs=5e-3)
    cell.change(rejects=False, aborts_at=1.0)
    _, result = play(cell, [1.0]).result()
    assert result.error_code == ErrorCode.REFUSED
    assert 'path tolerance violated' in result.error_string
    # The controller holds the arm by itself: no further trajectory.
    assert cell.stand()['trajectories'] == 2


@pytest.mark.parametrize('how', ['cancel', 'service', 'interrupt'])
def test_a_person_stops_it(cell, how):
    goal = play(cell, [1.0])
    cell.client.spin_until(lambda: any(f.phase == 'motion' for f in goal.feedback), 30.0)
    if how == 'interrupt':
        cell.player.interrupt()
        assert cell.player.stop() == 0
    else:
        stop = cell.client.call(Trigger, 'motion_player/stop') if how == 'service' else None
        assert goal.cancel() if stop is None else stop.success
        _, result = goal.result()
        assert result.error_code == ErrorCode.CANCELED
    figures = cell.stand()
    assert (figures['trajectories'], figures['rejected']) == (2, 0)
    assert figures['acceleration'] < 1.3 * ACCELERATION
    assert np.abs(np.array(figures['position']) - HOME).max() > 0.02


@pytest.mark.parametrize('cell', [{'command': [sys.executable, '-c', FAULTY]}], indirect=True)
def test_a_bug_of_the_player_brakes_the_arm_and_is_told(cell):
    _, result = play(cell, [1.0]).result()
    assert result.error_code == ErrorCode.INTERNAL_ERROR
    assert 'ZeroDivisionError' in result.error_string
    figures = cell.stand()
    assert (figures['trajectories'], figures['rejected']) == (2, 0)
    assert figures['acceleration'] < 1.3 * ACCELERATION


@pytest.mark.parametrize('cell', [{'sim': False}], indirect=True)
def test_a_real_robot_waits_to_be_armed_and_confirmed(cell):
    _, result = play(cell, [1.0]).result()
    assert result.error_code == ErrorCode.INVALID_STATE
    assert cell.figures()['trajectories'] == 0
    assert all(r.successful for r in cell.client.set_parameters('motion_player', {'armed': True}))
    goal = play(cell, [1.0])
    cell.client.spin_until(lambda: any(f.phase == 'waiting' for f in goal.feedback), 30.0)
    assert cell.figures()['trajectories'] == 0
    assert cell.client.call(Trigger, 'motion_player/confirm').success
    _, result = goal.result()
    assert result.error_code == 0, result.error_string
    # Armed for one run alone.
    _, result = play(cell, [1.0]).result()
    assert result.error_code == ErrorCode.INVALID_STATE


@pytest.mark.parametrize('cell', [{'state_timeout_s': 1.0}], indirect=True)
def test_a_player_that_is_held_up_does_not_take_that_for_missing_joint_states(cell):
    goal = play(cell, [1.0])
    cell.client.spin_until(lambda: any(f.phase == 'motion' for f in goal.feedback), 30.0)
    # Longer than state_timeout_s: the states wait in its queue.
    cell.player.process.send_signal(signal.SIGSTOP)
    time.sleep(2.0)
    cell.player.process.send_signal(signal.SIGCONT)
    _, result = goal.result()
    assert (result.error_code, result.error_string) == (0, '')
    assert cell.stand()['trajectories'] == 1
