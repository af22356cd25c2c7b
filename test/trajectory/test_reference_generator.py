"""The motion of a generator: approach, cycles, stop, limits."""

import numpy as np
import pytest
from errors import refused

from robot_id.exceptions import TrajectoryError
from robot_id.robot import load_robot
from robot_id.trajectory import Quintic
from robot_id.trajectory.default import motion_of
from robot_id.trajectory.reference_generator import ReferenceGenerator

MS = 1_000_000


@pytest.mark.parametrize('name', ['emps', 'tx40'])
def test_the_reference_goes_smoothly_from_the_robot_into_the_motion_and_stops_within_limits(name):
    robot = load_robot(name)
    motion = motion_of(robot)
    generator = ReferenceGenerator(robot, motion, 0, 0.5, 1e-6)
    start = motion.sample(0.0)[0] + 0.02
    generator.start(0, start)
    assert generator.approach_s > 0.0
    step = 2 * MS
    stop = round((generator.approach_s + 0.37 * motion.duration) * 1e9)
    before = np.arange(0, stop, step)
    moving = np.array([generator.at(int(t)) for t in before])
    ahead = [generator.block(part) for part in np.array_split(before, len(before) // 20)]
    np.testing.assert_allclose(np.concatenate(ahead), moving, rtol=0, atol=1e-9)
    generator.stop(stop)
    end = stop + 3 * 10**9
    times = np.arange(0, end, step)
    points = np.array([generator.at(int(t)) for t in times])
    blocks = [generator.block(part) for part in np.array_split(times, len(times) // 20)]
    np.testing.assert_allclose(np.concatenate(blocks), points, rtol=0, atol=1e-12)
    q, dq, ddq = np.moveaxis(points, 1, 0)
    assert np.allclose(q[0], start)
    assert np.all(np.abs(dq[-1]) < 1e-12)
    assert generator.over(end)
    assert np.all(np.abs(dq) <= robot.limits.velocity * 1.001)
    assert np.all(np.abs(ddq) <= robot.limits.acceleration * 1.5)
    slope = np.diff(q, axis=0) / 2e-3
    middle = 0.5 * (dq[1:] + dq[:-1])
    assert np.abs(slope - middle).max() < 2e-3 * 0.5 * 2.0 * robot.limits.acceleration.max()


def test_cycles_end_at_the_end_and_a_one_shot_motion_goes_back():
    robot = load_robot('emps')
    way = Quintic([[0.0], [0.2]], 1.0)
    once = ReferenceGenerator(robot, way, 1, 0.3, 1e-6)
    once.start(0, np.array([0.0]))
    assert once.at(5 * 10**9)[0, 0] == pytest.approx(0.2)
    thrice = ReferenceGenerator(robot, way, 3, 0.3, 1e-6)
    thrice.start(0, np.array([0.0]))
    end = thrice.at(10**12)
    assert end[0, 0] == pytest.approx(0.2, abs=1e-9)
    assert np.all(end[1:] == 0.0)
    passes = [thrice.at(ns)[0, 0] > 0.19 for ns in range(0, 20 * 10**9, 10**7)]
    assert np.sum(np.diff(np.array(passes, int)) == 1) == 3


def test_a_motion_beyond_the_limits_is_refused_with_the_joint():
    robot = load_robot('emps')
    with refused(TrajectoryError, joint='carriage', key='position'):
        ReferenceGenerator(robot, Quintic([[0.0], [0.5]], 5.0), 1, 0.3, 1e-6)
    with refused(TrajectoryError, joint='carriage', key='velocity'):
        ReferenceGenerator(robot, Quintic([[0.0], [0.3]], 0.2), 1, 0.3, 1e-6)


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
@pytest.mark.parametrize('share', [0.1, 0.3])
def test_a_motion_starts_from_wherever_the_robot_was_stopped(name, share):
    robot = load_robot(name)
    motion = motion_of(robot)
    limits = robot.limits
    for t in np.linspace(0.0, motion.duration, 12, endpoint=False) + 0.1:
        generator = ReferenceGenerator(robot, motion, 0, share, 1e-6)
        generator.start(0, motion.sample(t)[0])
        # The last moment of the way; the motion itself may begin with a jump of acceleration.
        ends = round(1e9 * generator.approach_s)
        points = np.array([generator.at(round(s)) for s in np.linspace(0, ends - 1000, 200)])
        assert np.abs(points[0, 0] - motion.sample(t)[0]).max() < 1e-9
        assert np.abs(points[-1, 0] - motion.sample(0.0)[0]).max() < 1e-4
        for row, limit in ((1, limits.velocity), (2, limits.acceleration)):
            assert np.all(np.abs(points[:, row]) <= share * limit * (1.0 + 1e-6))
        assert np.all((points[:, 0] >= limits.lower) & (points[:, 0] <= limits.upper))
