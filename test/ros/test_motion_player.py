"""
The motion player on a position-controlled arm of MuJoCo, as processes: what the arm does.

Its faults are in test/tasks/test_playing_faults.py, in simulated time.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(180)]
pytest.importorskip('mujoco')

PLANT = Path(__file__).resolve().parents[2] / 'tools/plants/jtc_plant.py'
ACCELERATION = 8.0
RECORD = {'record': True}
HOME = (0.2, -1.0, 0.8, -0.5, 0.4, 0.1)


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return robot file, motion file and plant settings of a UR5."""
    import yaml
    from plants.mujoco_arms import chain_urdf, robots_folder
    from plants.position_arm import Settings

    from robot_id.robot import load_robot
    from robot_id.trajectory import save_trajectory
    from robot_id.trajectory.random import random_trajectory

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    folder = tmp_path_factory.mktemp('arm')
    urdf = chain_urdf('ur5', folder / 'ur5.urdf')
    names = load_robot(str(urdf)).joint_names
    joints = [{'name': name, 'limits': {'acceleration': ACCELERATION}} for name in names]
    robot_file = folder / 'ur5.yaml'
    robot_file.write_text(yaml.safe_dump({'name': 'ur5', 'urdf': str(urdf), 'joints': joints}))
    robot = load_robot(str(robot_file))
    motion = random_trajectory(robot.limits, 4.0, seed=1, share=0.5)
    save_trajectory(motion, folder / 'motion.yaml', names)
    settings = Settings(str(urdf), HOME, names).write(folder / 'plant.json')
    return folder, robot_file, settings


class Cell:
    """A plant, a player, and what they do."""

    def __init__(self, client, namespace):
        from std_msgs.msg import String

        self.client, self._text = client, String
        self._status = client.collect(String, 'plant/status')
        self._settings = client.node.create_publisher(String, 'plant/settings', 10)
        client.spin_until(self._settings.get_subscription_count, what='plant')

    def change(self, **settings):
        self._settings.publish(self._text(data=json.dumps(settings)))
        self.client.spin_for(0.2)

    def figures(self):
        self._status.clear()
        self.client.spin_until(lambda: self._status, what='status')
        return json.loads(self._status[-1].data)

    def stand(self):
        """Wait until the arm stands; return its figures."""
        return self.client.spin_until(
            lambda: (found := self.figures())['stands'] and found, 20.0, 'the arm stands'
        )

    def play(self, speeds):
        from robot_id_msgs.action import Play

        return self.client.send_goal(Play, 'motion_player/play', Play.Goal(speeds=speeds))


@pytest.fixture
def cell(arm, request):
    """Start plant and player with the parameters of the test."""
    import contextlib

    from running.client import Client
    from running.node_process import NodeProcess

    folder, robot_file, settings = arm
    given = {
        'robot': str(robot_file),
        'trajectory': str(folder / 'motion.yaml'),
        'data_directory': str(folder),
        'record': False,
        'sim': True,
        'approach_share': 1.0,
        'stall_s': 1.5,
        **getattr(request, 'param', {}),
    }
    with contextlib.ExitStack() as stack:
        command = [sys.executable, str(PLANT), str(settings)]
        plant = stack.enter_context(NodeProcess(command, namespace='cell'))
        player = stack.enter_context(
            NodeProcess('motion_player', parameters=given, namespace='cell')
        )
        plant.wait_for_log('ready', 120)
        player.wait_for_log('ready', 120)
        client = stack.enter_context(Client(namespace='cell'))
        found = Cell(client, 'cell')
        found.player, found.plant = player, plant
        try:
            yield found
        except BaseException:
            print(player.log)
            raise


def seconds(duration):
    return duration.sec + 1e-9 * duration.nanosec


def test_it_plays_each_speed_records_the_reference_and_returns(cell, arm):
    from running.node_process import NodeProcess

    from robot_id import data

    folder = arm[0]
    settings = {'data_directory': str(folder)}
    with NodeProcess('data_logger', parameters=settings, namespace='cell') as logger:
        logger.wait_for_log('ready', 120)
        assert all(r.successful for r in cell.client.set_parameters('motion_player', RECORD))
        goal = cell.play([0.5, 1.0])
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
    _, result = cell.play([1.0]).result()
    assert (result.error_code, result.error_string) == (0, '')
    assert cell.stand()['position'] == pytest.approx(HOME, abs=5e-3)


def test_a_rejected_trajectory_moves_nothing(cell):
    from robot_id_msgs.msg import ErrorCode

    cell.change(rejects=True)
    _, result = cell.play([1.0]).result()
    assert result.error_code == ErrorCode.REFUSED
    assert 'rejected' in result.error_string
    figures = cell.figures()
    assert figures['stands']
    assert figures['position'] == pytest.approx(HOME, abs=5e-3)
    cell.change(rejects=False, aborts_at=1.0)
    _, result = cell.play([1.0]).result()
    assert result.error_code == ErrorCode.REFUSED
    assert 'path tolerance violated' in result.error_string
    # The controller holds the arm by itself: no further trajectory.
    assert cell.stand()['trajectories'] == 2


@pytest.mark.parametrize('how', ['cancel', 'interrupt'])
def test_a_person_stops_it(cell, how):
    from robot_id_msgs.msg import ErrorCode

    goal = cell.play([1.0])
    cell.client.spin_until(lambda: any(f.phase == 'motion' for f in goal.feedback), 30.0)
    if how == 'interrupt':
        cell.player.interrupt()
        assert cell.player.stop() == 0
    else:
        assert goal.cancel()
        _, result = goal.result()
        assert result.error_code == ErrorCode.CANCELED
    figures = cell.stand()
    assert (figures['trajectories'], figures['rejected']) == (2, 0)
    assert figures['acceleration'] < 1.3 * ACCELERATION
    assert np.abs(np.array(figures['position']) - HOME).max() > 0.02


@pytest.mark.parametrize('cell', [{'sim': False}], indirect=True)
def test_a_real_robot_waits_to_be_armed_and_confirmed(cell):
    from std_srvs.srv import Trigger

    from robot_id_msgs.msg import ErrorCode

    _, result = cell.play([1.0]).result()
    assert result.error_code == ErrorCode.INVALID_STATE
    assert cell.figures()['trajectories'] == 0
    assert all(r.successful for r in cell.client.set_parameters('motion_player', {'armed': True}))
    goal = cell.play([1.0])
    cell.client.spin_until(lambda: any(f.phase == 'waiting' for f in goal.feedback), 30.0)
    assert cell.figures()['trajectories'] == 0
    assert cell.client.call(Trigger, 'motion_player/confirm').success
    _, result = goal.result()
    assert result.error_code == 0, result.error_string
    # Armed for one run alone.
    _, result = cell.play([1.0]).result()
    assert result.error_code == ErrorCode.INVALID_STATE
