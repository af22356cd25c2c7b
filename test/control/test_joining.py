"""A reference that is elsewhere is joined within the limits, and without a jump."""

import numpy as np
import pytest

from robot_id.control import ComputedTorque
from robot_id.control.runtime.joining import SHARE, Joining
from robot_id.control.runtime.torque_control import Mode, TorqueControl
from robot_id.robot import load_robot

MS = 1_000_000


def joining(away):
    robot = load_robot('scara')
    way = Joining(robot, np.array([30.0, 60.0]), np.array([0.26, 0.26]))
    way.begin(np.array(away), np.ones(2, bool))
    return robot, way


@pytest.mark.parametrize(
    'away', [[[0.2, -0.2], [0.0, 0.0]], [[0.0, 0.1], [0.5, 1.0]], [[1e-3, 0.26], [0.1, -1.0]]]
)
def test_the_way_to_a_reference_is_smooth_within_its_share_and_ends_there(away):
    robot, way = joining(away)
    still, h = np.zeros((3, 2)), 1e-3
    points = [way.point(still)]
    while way.active:
        way.advance(h)
        points.append(way.point(still))
        assert len(points) < 5000
    q, dq, ddq = np.array(points).transpose(1, 0, 2)
    assert -q[0] == pytest.approx(np.array(away[0]))
    assert not q[-1].any()
    # The three rows are derivatives of each other: by the trapezoidal rule, but for the ends.
    assert np.diff(q, axis=0)[:-1] == pytest.approx(h * (dq[1:] + dq[:-1])[:-1] / 2, abs=4e-5)
    assert np.diff(dq, axis=0)[:-1] == pytest.approx(h * (ddq[1:] + ddq[:-1])[:-1] / 2, abs=2e-3)
    assert np.all(np.abs(ddq) <= SHARE * robot.limits.acceleration + 1e-9)
    faster = np.maximum(SHARE * robot.limits.velocity, 1.001 * np.abs(away[1]))
    assert np.all(np.abs(dq) <= faster)


def test_a_robot_at_its_reference_is_not_away():
    _, way = joining([[0.0, 0.0], [0.0, 0.0]])
    assert not way.active


def test_the_reference_of_the_law_does_not_jump_where_another_one_is_met():
    robot = load_robot('scara')
    law = ComputedTorque(robot, robot.truth())
    # As in a dry run: this robot is moved by another hand.
    control = TorqueControl(law, 0.02, 0.05, soft_start_s=0.5, applied=False)
    q, far = np.array([0.1, 0.2]), np.array([0.2, 0.05])
    seen = []
    for k in range(300):
        if k >= 50:
            point = np.array([far, np.zeros(2), np.zeros(2)])
            control.references.put(k * MS, point)
        # The robot goes where its law wants it.
        command = control.step(k * MS, q)
        q = command.point[0].copy()
        seen.append(q)
        # What is learned from is the user's reference alone.
        assert not command.following or np.array_equal(command.point[0], far)
    assert control.mode is Mode.FOLLOWING
    assert np.abs(np.diff(seen, axis=0)).max() < 2e-3
