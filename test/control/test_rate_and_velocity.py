"""Rates that gains need, samples that are counted, velocities that are believed."""

import numpy as np
import pytest

from robot_id.control.laws.computed_torque import error_gains
from robot_id.control.runtime.measured_velocity import MeasuredVelocity, SampleClock
from robot_id.control.supervision.loop_margin import check_rate, least_rate, phase_margin
from robot_id.control.supervision.start_rate import STEPS, StartRate
from robot_id.exceptions import ControlError
from robot_id.robot import load_robot

MS = 1_000_000


@pytest.mark.parametrize('damping', [0.5, 0.7, 1.0])
@pytest.mark.parametrize('averaged', [False, True])
def test_the_margin_changes_its_sign_where_the_sampled_loop_becomes_unstable(damping, averaged):
    """The independent reference: the poles of the loop as a matrix."""
    wn = 100.0
    kp, kv = wn**2, 2.0 * damping * wn

    def stable(period):
        v = [-0.5, 0.0] if averaged else [-1.0, 0.0]
        # State [q, dq, q one step ago, q two steps ago].
        back = 1 if averaged else 0
        loop = np.array([[1.0, period, 0, 0], [0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 1.0, 0]])
        law = np.zeros(4)
        law[0] = kp - kv * v[0] / period
        law[2 + back] = kv * v[0] / period
        loop -= np.outer([0.5 * period**2, period, 0, 0], law)
        return np.abs(np.linalg.eigvals(loop)).max() < 1.0

    for period in np.geomspace(1e-4, 0.05, 40):
        margin = phase_margin(kp, kv, period, averaged=averaged)
        if abs(margin) > 1.0:
            assert stable(period) == (margin > 0.0), (period, margin)


def test_a_rate_that_gains_cannot_have_is_refused_with_the_one_they_need():
    robot = load_robot('tx40')
    loop = robot.loop('learning')
    check_rate(robot, loop)
    slow = loop.model_copy(update={'rate_hz': 125.0})
    with pytest.raises(ControlError) as refused:
        check_rate(robot, slow)
    assert refused.value.value == 125.0
    needed = least_rate(loop)
    assert refused.value.bound == needed
    assert 125.0 < needed < 1000.0
    check_rate(robot, loop.model_copy(update={'rate_hz': needed}))
    with pytest.raises(ControlError):
        check_rate(robot, loop, delay_s=0.02)
    assert np.all(error_gains(loop)[0] > 0.0)


def test_samples_are_counted_whatever_their_stamps_jitter():
    clock, source = SampleClock(4.0 * MS), np.random.default_rng(3)
    jitter = source.uniform(-1.0, 1.0, 500) * MS
    counts = [clock.periods(round(4 * MS * k + jitter[k])) for k in range(500)]
    assert set(counts) == {1}
    # Three samples are lost; then a clock that is 0.5 % slow.
    assert clock.periods(4 * MS * 503) == 4
    slow = [clock.periods(round(4 * MS * (503 + 1.005 * k))) for k in range(1, 2000)]
    assert set(slow) == {1}


@pytest.mark.parametrize(('seen', 'right'), [(1000.0, True), (900.0, True), (100.0, False)])
def test_the_rate_is_measured_before_the_first_torque(seen, right):
    rate = StartRate(1000.0)
    known = [rate.feed(round(k * 1e9 / seen)) for k in range(STEPS + 1)]
    assert known == [False] * STEPS + [True]
    assert rate.seen_hz == pytest.approx(seen, rel=1e-6)
    assert rate.right is right


def test_a_measured_velocity_is_used_where_it_agrees_with_the_positions():
    robot = load_robot('scara')
    chooser = MeasuredVelocity(robot)
    h, t = 1e-3, np.arange(600) * 1e-3
    q = np.array([0.5 * np.sin(5 * t), 0.3 * np.sin(7 * t)]).T
    dq = np.array([2.5 * np.cos(5 * t), np.degrees(2.1 * np.cos(7 * t))]).T
    assert chooser.choose(q[0], None, h) is None
    assert np.all(np.isnan(chooser.choose(q[0], dq[0], h)))
    for position, velocity in zip(q[1:], dq[1:]):
        chosen = chooser.choose(position, velocity, h).copy()
    # The other one is in degrees.
    assert chooser.used.tolist() == [True, False]
    assert chosen[0] == dq[-1, 0]
    assert np.isnan(chosen[1])
    # A velocity that freezes is believed no more.
    for position in q[::-1]:
        chooser.choose(position, dq[-1], h)
    assert not chooser.used.any()
