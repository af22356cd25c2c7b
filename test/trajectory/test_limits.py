"""Limits: what a motion may use, never exceeded between samples, missing ones refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.exceptions import OptionError, TrajectoryError
from robot_id.excitation.feasible import Gauge
from robot_id.excitation.motion_basis import make_family
from robot_id.robot import load_robot
from robot_id.robot.limits import FULL_SPEED_S
from robot_id.trajectory import Quintic
from robot_id.trajectory.limits import MotionLimits, motion_limits


def random_limits(rng: np.random.Generator, n: int) -> MotionLimits:
    middle, half = rng.uniform(-2.0, 2.0, n), 10.0 ** rng.uniform(-2.0, 1.0, n)
    return MotionLimits(
        tuple(f'joint_{j}' for j in range(n)),
        middle - half,
        middle + half,
        *(10.0 ** rng.uniform(-2.0, 2.0, n) for _ in range(3)),
    )


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(['fourier', 'quintic']),
    order=st.integers(2, 12),
    size=st.floats(-2.0, 4.0),
)
@settings(max_examples=80, deadline=None)
def test_scaled_motions_keep_random_limits_on_a_fine_grid(seed, kind, order, size) -> None:
    rng = np.random.default_rng(seed)
    limits = random_limits(rng, 3)
    family = make_family(kind, 10.0 ** rng.uniform(-0.3, 1.5), order)
    samples = 6 * family.size
    t = np.arange(samples) * (family.basis.duration / samples)
    gauge = Gauge(family.basis.sample(t), limits)
    X = gauge.scale(10.0**size * family.draw(rng, 3), 60.0).X
    X = X / np.maximum(limits.usage(family.member(X, limits.middle)), 1.0)
    trajectory = family.member(X, limits.middle)
    limits.check(trajectory)
    q, dq, ddq = trajectory.sample(np.linspace(0.0, trajectory.duration, 10 * samples + 1))
    slack = 1.0 + 1e-9
    assert np.all(np.abs(q - limits.middle) <= limits.half * slack)
    assert np.all(np.abs(dq) <= limits.velocity * slack)
    assert np.all(np.abs(ddq) <= limits.acceleration * slack)
    assert trajectory.ends_at_rest(tolerance=1e-7)
    assert np.all(np.isfinite(X))
    if size > 3.0:
        # A motion that was far too large ends close to a limit of every joint.
        assert np.all(limits.usage(trajectory) > 0.8)


@pytest.mark.parametrize('kind', ['fourier', 'quintic'])
def test_the_gauge_has_the_slope_that_it_says(kind: str) -> None:
    rng = np.random.default_rng(3)
    limits = random_limits(rng, 2)
    family = make_family(kind, 4.0, 4)
    t = np.arange(60) * (family.basis.duration / 60)
    gauge = Gauge(family.basis.sample(t), limits)
    X0, push = family.draw(rng, 2), rng.normal(size=(3, 2, 20))
    scaled = gauge.scale(X0, 60.0)
    # The states are those of the scaled coefficients, at every third sample of the grid.
    sampled = family.member(scaled.X, limits.middle).sample(t[::3])
    wanted = np.stack([part.T for part in sampled])
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(scaled.states(limits.middle, 20), wanted, atol=1e-12 * scale)

    def value(X: np.ndarray) -> float:
        return float(np.sum(push * gauge.scale(X, 60.0).states(limits.middle, 20)))

    slope = scaled.pull_back(push)
    for i, j in ((0, 0), (1, 1), (family.size - 1, 0)):
        step = np.zeros_like(X0)
        step[i, j] = 1e-6
        measured = (value(X0 + step) - value(X0 - step)) / 2e-6
        assert slope[i, j] == pytest.approx(measured, rel=1e-5, abs=1e-7 * np.abs(slope).max())


def test_a_motion_outside_its_limits_is_named() -> None:
    limits = MotionLimits(
        ('elbow',), np.array([-1.0]), np.array([1.0]), np.array([1.0]), np.array([2.0]),
        np.array([5.0]),
    )  # fmt: skip
    limits.check(Quintic([[-0.5], [0.5]], 4.0))
    for motion, words in (
        (Quintic([[0.0], [1.5]], 9.0), "'elbow' leaves its position limit: 1.5 against 1"),
        (Quintic([[-1.0], [1.0]], 3.0), "'elbow' leaves its velocity limit: 1.25"),
        (Quintic([[0.0], [0.4]], 1.0), "'elbow' leaves its acceleration limit"),
    ):
        with pytest.raises(TrajectoryError, match=words):
            limits.check(motion)


def without(robot, joint: int, **changes):
    """Return the robot with other limits of one joint."""
    values = {
        field.name: np.array(getattr(robot.limits, field.name))
        for field in dataclasses.fields(robot.limits)
    }
    for quantity, value in changes.items():
        values[quantity][joint] = value
    robot.limits = type(robot.limits)(**values)
    return robot


def test_missing_or_impossible_limits_are_one_clear_line() -> None:
    for changes, words in (
        ({'velocity': np.inf}, "'elbow' has no velocity limit"),
        ({'lower': -np.inf}, "'elbow' has no lower limit"),
        ({'lower': 1.0, 'upper': 1.0}, "'elbow' has no room to move"),
        ({'velocity': 0.0}, "'elbow' cannot move: its velocity limit is 0"),
        ({'torque': -3.0}, "'elbow' cannot move: its torque limit is -3"),
    ):
        with pytest.raises(TrajectoryError, match=words) as caught:
            motion_limits(without(load_robot('scara'), 1, **changes))
        assert '\n' not in str(caught.value)


def test_an_acceleration_that_is_not_given_is_assumed_and_said() -> None:
    open_joint = without(load_robot('scara'), 1, acceleration=np.inf)
    found = motion_limits(open_joint)
    assert found.acceleration[1] == found.velocity[1] / FULL_SPEED_S
    assert any('elbow' in note for note in found.notes)
    given = motion_limits(open_joint, changes={'elbow.acceleration': 7.0})
    assert (given.acceleration[1], given.notes) == (7.0, ())


def test_a_continuous_joint_turns_once(tmp_path) -> None:
    path = tmp_path / 'wheel.urdf'
    path.write_text(
        '<robot name="wheel"><link name="base"/><link name="rim"/>'
        '<joint name="hub" type="continuous"><parent link="base"/><child link="rim"/>'
        '<axis xyz="0 0 1"/><limit velocity="2" effort="3"/></joint></robot>'
    )
    found = motion_limits(load_robot(path))
    np.testing.assert_allclose([found.lower[0], found.upper[0]], [-np.pi, np.pi])
    assert any('hub' in note and 'continuous' in note for note in found.notes)


def test_limits_can_be_completed_and_shrunk() -> None:
    robot = without(load_robot('scara'), 1, velocity=np.inf)
    limits = motion_limits(robot, 0.5, {'elbow.velocity': 3.0, 'shoulder.upper': 1.4})
    np.testing.assert_allclose(limits.velocity, [0.5 * robot.limits.velocity[0], 1.5])
    np.testing.assert_allclose([limits.lower[0], limits.upper[0]], [-1.6, 0.4])
    for changes, words in (
        ({'elbw.velocity': 1.0}, "did you mean 'elbow'"),
        ({'elbow.speed': 1.0}, "no quantity 'speed'"),
        ({'velocity': 1.0}, 'no joint'),
    ):
        with pytest.raises(OptionError, match=words):
            motion_limits(robot, 1.0, changes)
    for fraction in (0.0, 1.5, -1.0, np.nan):
        with refused(OptionError, key='fraction'):
            motion_limits(robot, fraction)
