"""Which reference the controller follows, and when it holds, brakes or stops."""

import numpy as np
import pytest
from reference_message import point

from robot_id.control import ComputedTorque
from robot_id.control.runtime.torque_control import Mode, TorqueControl
from robot_id.robot import load_robot

MS = 1_000_000


def control(**options):
    robot = load_robot('emps')
    settings = {'lost_s': 0.02, 'gap_s': 0.05, **options}
    return TorqueControl(ComputedTorque(robot, robot.truth()), **settings)


def test_without_a_reference_the_robot_is_held_where_it_stands():
    law = control()
    for k in range(20):
        command = law.step(k * MS, np.array([0.1]))
    assert law.mode is Mode.HOLDING
    assert command.torque == pytest.approx(0.0, abs=1e-9)
    pushed = law.step(20 * MS, np.array([0.1001]))
    assert pushed.torque[0] < 0.0
    assert not pushed.following


def test_a_lost_reference_is_braked_and_held():
    law = control()
    for k in range(230):
        if k < 100:
            speed = 0.2 if k else 0.0
            law.references.take(point(k * MS, 0.2 * k / 1000, speed))
        at = min(0.2 * k / 1000, 0.05)
        command = law.step(k * MS, np.array([at]))
        if k == 130:
            assert law.mode is Mode.BRAKING
    speeds = command.point[1]
    assert np.all(speeds == 0.0)
    assert law.mode is Mode.HOLDING
    # 20 ms carried on, then 0.2^2 / (2 a), a half of the limit of 5 m/s^2.
    assert command.point[0, 0] == pytest.approx(0.2 * 0.12 + 0.2**2 / 5.0, abs=1e-3)


def test_a_reference_far_away_is_not_followed_and_leaving_it_stops():
    law = control()
    law.references.take(point(0, 0.3))
    law.step(0, np.array([0.0]))
    assert law.mode is Mode.HOLDING
    assert "joint 'carriage' is 0.3 from its reference" in law.reason
    law.references.take(point(MS, 0.0))
    law.step(MS, np.array([0.0]))
    assert law.mode is Mode.FOLLOWING
    law.references.take(point(2 * MS, 0.0))
    command = law.step(2 * MS, np.array([0.05]))
    assert law.mode is Mode.STOPPED
    assert command.point[0, 0] == 0.05
    law.references.take(point(3 * MS, 0.05))
    law.step(3 * MS, np.array([0.05]))
    assert law.mode is Mode.STOPPED
    law.restart()
    law.references.take(point(4 * MS, 0.05))
    assert law.step(4 * MS, np.array([0.05])).following


def test_a_reference_that_passes_at_speed_is_met_only_when_it_is_slow():
    law = control()
    law.step(0, np.array([0.1]))
    law.references.take(point(MS, 0.1, 0.3))
    assert not law.step(MS, np.array([0.1])).following
    assert "passes joint 'carriage' at 0.3" in law.reason
    law.references.take(point(2 * MS, 0.1, 0.01))
    assert law.step(2 * MS, np.array([0.1])).following


def test_a_gap_in_the_measurements_starts_anew_from_a_hold():
    law = control()
    law.references.take(point(0, 0.0))
    assert law.step(0, np.array([0.0])).following
    command = law.step(500 * MS, np.array([0.01]))
    assert law.mode is Mode.HOLDING
    assert command.torque == pytest.approx(0.0, abs=1e-9)
