"""What a position-controlled arm of MuJoCo does on each fault, in simulated time."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip('mujoco')
ACCELERATION = 8.0
HOME = (0.2, -1.0, 0.8, -0.5, 0.4, 0.1)
# s that a trajectory takes to the controller, and until its answer is heard.
ON_ITS_WAY = 0.02
STALL_S, TIMEOUT_S, TRACKING = 1.5, 0.5, 0.1


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return a UR5, a motion of four seconds, and the settings of its plant."""
    import yaml
    from plants.mujoco_arms import chain_urdf, robots_folder
    from plants.position_arm import Settings

    from robot_id.robot import load_robot
    from robot_id.trajectory.random import random_trajectory

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    folder = tmp_path_factory.mktemp('arm')
    urdf = chain_urdf('ur5', folder / 'ur5.urdf')
    names = load_robot(str(urdf)).joint_names
    joints = [{'name': name, 'limits': {'acceleration': ACCELERATION}} for name in names]
    content = {'name': 'ur5', 'urdf': str(urdf), 'joints': joints}
    (folder / 'ur5.yaml').write_text(yaml.safe_dump(content))
    robot = load_robot(str(folder / 'ur5.yaml'))
    motion = random_trajectory(robot.limits, 4.0, seed=1, share=0.5)
    return robot, motion, Settings(str(urdf), HOME, names)


def play(arm, ask_at=None, back=True, **changes):
    """Play the motion at full speed; return the follower and the figures of the arm at rest."""
    from plants.position_arm import CONTROL_S
    from plants.trajectory_controller import TrajectoryController

    from robot_id.tasks.playing.follower import Follower
    from robot_id.tasks.playing.plan import make_plan
    from robot_id.tasks.playing.watch import Bounds, Told
    from robot_id.trajectory import waypoints

    robot, motion, settings = arm
    controller = TrajectoryController(settings)
    limit = changes.pop('effort_limit', robot.limits.torque)
    controller.change(json.dumps(changes))
    paused = controller.settings.scaling == 0.0
    plan = make_plan(robot, motion, 1.0, np.array(HOME), 1.0, back=back)
    bounds = Bounds(TRACKING, limit, 0.9, STALL_S)
    follower = Follower(plan, bounds, robot.joint_names, TIMEOUT_S)
    sent = {ON_ITS_WAY: waypoints(plan.whole)}
    rejected, heard, now = '', 0.0, 0.0
    path = [controller.wanted[0]]
    while now < 60.0:
        now += CONTROL_S
        for due in [time for time in sent if time <= now]:
            points = sent.pop(due)
            rows = [[row[0], row[1]] for row in points.points]
            why = controller.take(robot.joint_names, points.time.tolist(), rows)
            rejected = f'the controller rejected the trajectory: {why}' if why else rejected
        controller.tick()
        path.append(controller.wanted[0])
        ended = rejected or None
        if controller.ended is not None and now > 0.1:
            code, text = controller.ended
            ended = text if code else ''
        if not controller.silent:
            heard = now
            told = Told(controller.wanted[0], controller.arm.q)
            stop = follower.state(now, controller.arm.q, controller.arm.effort(), told, ended)
        else:
            stop = follower.silence(now, now - heard, ended)
        if ask_at is not None and now > ask_at:
            stop = stop or follower.stop(now, 'asked')
        if stop is not None and stop.points is not None:
            sent[now + ON_ITS_WAY] = stop.points
        done = follower.stopped is not None or follower.finished(now, True, ended)
        if done and not sent and (controller.figures()['stands'] or paused):
            break
    return follower, controller.figures(), np.array(path), now


def away_from_path(follower, path):
    """Return the largest distance of a reference from the path of the plan."""
    t = np.linspace(0.0, follower.plan.whole.duration, 4000)
    plan = follower.plan.whole.sample(t)[0]
    return max(np.abs(plan - q).max(axis=1).min() for q in path[::20])


def test_without_a_fault_the_motion_is_played_to_its_end(arm):
    follower, figures, path, _ = play(arm)
    assert follower.stopped is None
    assert figures['trajectories'] == 1
    assert figures['position'] == pytest.approx(HOME, abs=5e-3)
    assert 0.0 < follower.watch.tracking_error < TRACKING
    assert figures['acceleration'] < 1.05 * ACCELERATION
    assert away_from_path(follower, path) < 5e-3


@pytest.mark.parametrize('scaling', [0.3, 0.7])
def test_speed_scaling_is_read_back(arm, scaling):
    follower, figures, _, _ = play(arm, scaling=scaling)
    assert follower.stopped is None
    assert follower.watch.executed_s == pytest.approx(4.0 / scaling, rel=0.05)
    assert figures['position'] == pytest.approx(HOME, abs=5e-3)


def test_a_rejected_trajectory_moves_nothing(arm):
    follower, figures, path, _ = play(arm, rejects=True)
    assert 'rejected' in follower.stopped.why
    assert follower.stopped.points is None
    assert figures['trajectories'] == 1
    assert np.ptp(path, axis=0) == pytest.approx(0.0)


def test_an_aborted_trajectory_is_held_by_the_controller(arm):
    follower, figures, _, _ = play(arm, aborts_at=1.5)
    assert 'path tolerance violated' in follower.stopped.why
    assert follower.stopped.points is None
    assert (figures['trajectories'], figures['stands']) == (1, True)


def test_a_paused_controller_is_given_up_where_it_is(arm):
    follower, _, path, now = play(arm, scaling=0.0)
    assert 'not advanced' in follower.stopped.why
    assert STALL_S < now < STALL_S + 0.2
    assert np.ptp(path, axis=0) == pytest.approx(0.0)
    # When it goes on it comes to rest near where it stands.
    assert np.abs(follower.stopped.points.points[-1, 0] - HOME).max() < 0.1


WEAK = {'effort_limit': np.array([1e3, 20.0, 1e3, 1e3, 1e3, 1e3])}


@pytest.mark.parametrize(
    ('fault', 'word'),
    [
        ({'silent_at': 1.5}, 'no joint states'),
        ({'stuck_at': 1.5, 'effort_limit': np.full(6, np.inf)}, 'away from its reference'),
        (WEAK, 'effort limit'),
        ({'ask_at': 2.0}, 'asked'),
        ({'ask_at': 2.0, 'scaling': 0.5}, 'asked'),
        ({'silent_at': 2.5, 'scaling': 0.5}, 'no joint states'),
    ],
    ids=['silence', 'block', 'effort', 'request', 'slow request', 'slow silence'],
)
def test_a_fault_brakes_the_arm_on_its_path_and_within_its_limits(arm, fault, word):
    follower, figures, path, now = play(arm, **fault)
    assert word in follower.stopped.why
    assert now < 50.0
    # The second trajectory was the stop, and nothing followed it.
    assert (figures['trajectories'], figures['rejected'], figures['stands']) == (2, 0, True)
    assert figures['acceleration'] < 1.3 * ACCELERATION
    assert away_from_path(follower, path) < 0.02
