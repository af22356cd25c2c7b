"""Playing a motion: plan, points, executed time, stops; against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from robot_id.exceptions import TrajectoryError
from robot_id.excitation.clearance import clearance_of
from robot_id.robot import load_robot
from robot_id.tasks.playing.executed_time import ExecutedTime
from robot_id.tasks.playing.plan import make_plan
from robot_id.tasks.playing.watch import Bounds, Told, Watch
from robot_id.trajectory import SampledMotion, TimeScaled, make_trajectory, slow_down, waypoints
from robot_id.trajectory.random import random_trajectory


@pytest.fixture(scope='module')
def robot():
    return load_robot('tx40')


@pytest.fixture(scope='module')
def plan(robot):
    motion = random_trajectory(robot.limits, 4.0, seed=3, share=0.5)
    return make_plan(robot, motion, 0.5, motion.sample(0.0)[0] + 0.3, 0.3)


def test_a_scaled_motion_is_the_same_path(robot):
    motion = random_trajectory(robot.limits, 4.0, seed=3)
    slow = TimeScaled(motion, 0.25)
    t = np.linspace(0.0, slow.duration, 50)
    for power, (own, other) in enumerate(zip(slow.sample(t), motion.sample(0.25 * t))):
        assert own == pytest.approx(0.25**power * other)
    again = make_trajectory(slow.to_spec())
    assert again.sample(t)[0] == pytest.approx(slow.sample(t)[0])


def test_a_plan_begins_and_ends_at_rest_where_the_robot_stands(plan, robot):
    ends = plan.whole.sample(np.array([0.0, plan.whole.duration]))
    assert ends[0][0] == pytest.approx(ends[0][1])
    assert np.abs(ends[1]).max() < 1e-6
    assert plan.motion_s == pytest.approx(8.0)
    assert plan.phase(0.5 * plan.begin) == ('approach', pytest.approx(0.5))
    assert np.all(plan.whole.extremes().acceleration <= robot.limits.acceleration)


def test_a_robot_outside_its_limits_is_not_moved(robot):
    motion = random_trajectory(robot.limits, 4.0, seed=3, share=0.5)
    with pytest.raises(TrajectoryError) as caught:
        make_plan(robot, motion, 1.0, robot.limits.upper + 1.0, 0.3)
    assert caught.value.joint == robot.joint_names[0]


ARM = """<robot name="arm">
 <link name="base"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
 {links}
 <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
  <origin xyz="0 0 0.3"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
 <joint name="b" type="revolute"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/>
  <origin xyz="0.4 0 0"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
</robot>"""
LINK = """<link name="{name}"><collision><origin xyz="0.2 0 0"/><geometry>
 <box size="0.3 0.05 0.05"/></geometry></collision></link>"""


@pytest.mark.parametrize('angle', [1.0, 0.2])
def test_an_approach_folds_the_arm_where_a_pillar_stands_in_its_way(tmp_path, angle):
    """
    A planar arm swings past a pillar that only the folded arm does not reach.

    Near the pillar it must fold before it turns, and unfold after it: one posture is not enough.
    """
    links = ''.join(LINK.format(name=name) for name in ('one', 'two'))
    (tmp_path / 'arm.urdf').write_text(ARM.format(links=links))
    pillar = {'name': 'pillar', 'cylinder': [0.05, 2.0], 'at': [0.65, 0.0, 0.0]}
    content = {'name': 'arm', 'urdf': 'arm.urdf', 'obstacles': [pillar]}
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump(content))
    arm = load_robot(tmp_path / 'arm.yaml')
    clearance = clearance_of(arm, margin=0.02, floor=False)
    end = np.array([[angle, 0.0], [angle + 0.01, 0.0]])
    motion = SampledMotion(np.array([0.0, 1.0]), end, np.zeros((2, 2)))
    start = np.array([-angle, 0.0])
    direct = make_plan(arm, motion, 1.0, start, 0.5)
    around = make_plan(arm, motion, 1.0, start, 0.5, clearance)
    # The motion itself may be older than the pillar: no way makes it clear.
    through = SampledMotion(np.array([0.0, 9.0]), np.array([start, end[0]]), np.zeros((2, 2)))
    with pytest.raises(TrajectoryError, match=r'the motion would bring .* pillar'):
        make_plan(arm, through, 1.0, start, 0.5, clearance)
    for plan, clear in ((direct, False), (around, True)):
        t = np.linspace(0.0, plan.whole.duration, 2000)
        assert clearance.keeps(plan.whole.sample(t)[0]) == clear
        ends = plan.whole.sample(np.array([0.0, plan.whole.duration]))
        assert ends[0] == pytest.approx(np.array([start, start]))
        assert np.abs(ends[1]).max() < 1e-6


def test_a_motion_is_played_whole_turns_away_where_the_robot_stands(tmp_path):
    links = ''.join(LINK.format(name=name) for name in ('one', 'two'))
    urdf = ARM.format(links=links).replace('lower="-3" upper="3"', 'lower="-7" upper="7"', 1)
    (tmp_path / 'arm.urdf').write_text(urdf)
    arm = load_robot(tmp_path / 'arm.urdf')
    motion = SampledMotion(np.array([0.0, 9.0]), np.array([[-1, 0], [0, 1]]), np.zeros((2, 2)))
    for stands, turns in (([5.0, 2.9], 1.0), ([-6.5, 0.0], 0.0), ([1.0, -2.9], 0.0)):
        plan = make_plan(arm, motion, 1.0, np.array(stands), 0.5)
        assert plan.turns.tolist() == [turns, 0.0]
        found = plan.whole.sample(plan.begin + 4.0)
        wanted = motion.sample(4.0)
        assert found[0] == pytest.approx(wanted[0] + [2 * np.pi * turns, 0.0])
        assert found[1] == pytest.approx(wanted[1])
        assert plan.whole.sample(0.0)[0] == pytest.approx(np.array(stands))
        again = make_trajectory(plan.whole.to_spec())
        assert again.sample(3.0)[0] == pytest.approx(plan.whole.sample(3.0)[0])


@pytest.mark.parametrize('share', [0.1, 0.4, 0.8])
def test_a_stop_keeps_path_and_limits(plan, robot, share):
    start = share * plan.whole.duration
    stop = plan.stop(start)
    t = np.linspace(0.0, stop.duration, 2000)
    q, dq, ddq = stop.sample(t)
    q0, dq0, _ = plan.whole.sample(start)
    assert q[0] == pytest.approx(q0)
    assert dq[0] == pytest.approx(dq0)
    assert np.abs(dq[-1]).max() < 1e-9
    assert np.all(np.abs(ddq) <= robot.limits.acceleration * (1.0 + 1e-6))
    assert np.gradient(q[:, 0], t, edge_order=2) == pytest.approx(dq[:, 0], abs=1e-4)
    path = plan.whole.sample(np.linspace(start, start + stop.duration, 4000))[0]
    away = np.abs(path[None, :, :] - q[::100, None, :]).max(axis=2).min(axis=1)
    assert away.max() < 1e-3


def test_a_stop_without_limits_is_short(plan):
    assert slow_down(plan.whole, 1.0, np.full(6, np.inf)).duration == pytest.approx(0.4)


def test_points_are_as_many_as_cubics_need(plan):
    found = waypoints(plan.whole)
    assert found.time[-1] == pytest.approx(plan.whole.duration)
    cubic = SampledMotion(found.time, found.points[:, 0], found.points[:, 1])
    t = np.linspace(0.0, plan.whole.duration, 5000)
    assert np.abs(cubic.sample(t)[0] - plan.whole.sample(t)[0]).max() < 2e-4
    assert waypoints(TimeScaled(plan.whole, 0.1)).rate_hz < found.rate_hz


@pytest.mark.parametrize('scaling', [1.0, 0.5, 0.1])
def test_executed_time_is_read_from_positions(plan, scaling):
    executed = ExecutedTime(plan.whole)
    rng = np.random.default_rng(0)
    for elapsed in np.arange(0.0, 5.0, 0.01):
        truth = scaling * elapsed
        noisy = plan.whole.sample(truth)[0] + 1e-4 * rng.normal(size=6)
        found = executed.update(elapsed, noisy)
    assert found == pytest.approx(truth, abs=0.02)


def test_each_reason_to_stop_is_named(plan, robot):
    bounds = Bounds(0.05, np.full(6, 10.0), 0.9, 1.0)
    still, none = np.zeros(6), ''

    def watch():
        return Watch(plan, bounds, robot.joint_names)

    at = [plan.whole.sample(t)[0] for t in np.arange(0.0, 2.0, 0.01)]
    good = watch()
    assert [good.feed(0.01 * k, q, still, Told(q, q)) for k, q in enumerate(at)] == [none] * len(
        at
    )
    away = at[-1] + 0.1 * (np.arange(6) == 2)
    assert robot.joint_names[2] in good.feed(2.0, away, still, Told(at[-1], away))
    # A state that was measured later than the reference is no error of tracking.
    late = watch()
    assert late.feed(2.0, away, still, Told(at[-1], at[-1])) == none
    strong = watch()
    effort = 9.5 * (np.arange(6) == 4)
    said = [strong.feed(0.01 * k, q, effort, Told(q, q)) for k, q in enumerate(at[:3])]
    assert said[:2] == [none, none]
    assert robot.joint_names[4] in said[2]
    stuck = watch()
    said = [
        stuck.feed(t, at[100], still, Told(at[100], at[100])) for t in np.arange(1.0, 3.0, 0.05)
    ]
    assert said[0] == none
    assert 'not advanced' in said[-1]
