"""The answer of a joint to a swing: what is planted in torque, position and time is found."""

import numpy as np
import pytest

from robot_id.control.supervision.response import respond
from robot_id.dynamics.inverse import inverse_dynamics
from robot_id.robot import load_robot

RATE, SWING, SWINGS = 500, 8.0, 4


def swing(torque=1.0, position=1.0, late=0, constant=0.0):
    """Answer of the elbow; torques by the inverse model of the true motion."""
    robot = load_robot('scara')
    chi, w = robot.truth(), 2.0 * np.pi * SWING
    t = np.arange(-60, round(SWINGS * RATE / SWING)) / RATE
    size = np.array([1e-4, 3e-3])
    q = np.array([0.3, 0.6]) + size * np.sin(w * t)[:, None]
    # In the middle of two samples acts the torque of the first.
    half = t + 0.5 / RATE
    q2 = np.array([0.3, 0.6]) + size * np.sin(w * half)[:, None]
    dq, ddq = size * w * np.cos(w * half)[:, None], -size * w**2 * np.sin(w * half)[:, None]
    tau = inverse_dynamics(robot, chi, q2, dq, ddq)
    tau[:, 1] = tau[:, 1] / torque + constant
    # A command that was given `late` samples before.
    tau = np.roll(tau, -late, axis=0)[20:-20]
    q = q[20:-20]
    measured = np.array([0.3, 0.6]) + (q - np.array([0.3, 0.6])) * np.array([1.0, position])
    return respond(robot, chi, 1, measured, tau, 1.0 / RATE, SWING)


def test_a_right_joint_has_factors_of_one():
    found = swing()
    assert found.inertia == pytest.approx(1.0, abs=0.05)
    assert found.friction == pytest.approx(1.0, abs=0.05)
    assert found.constant == pytest.approx(0.0, abs=0.01)
    assert found.delay_s == 0.0


def test_a_torque_scale_shows_in_both_factors_and_a_gear_in_the_inertia_alone():
    scaled, geared = swing(torque=3.0), swing(position=2.0)
    assert [scaled.inertia, scaled.friction] == pytest.approx([1 / 3, 1 / 3], rel=0.25)
    assert geared.inertia == pytest.approx(0.5, rel=0.1)
    assert geared.friction > 0.6


@pytest.mark.parametrize('late', [5, 10])
def test_a_delay_is_found_and_a_constant_is_told(late):
    found = swing(late=late)
    assert found.delay_s == pytest.approx(late / RATE, abs=1.5 / RATE)
    assert swing(constant=0.2).constant == pytest.approx(0.2, abs=0.02)
