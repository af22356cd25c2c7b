"""The simulated robot without commands: how long the last torque acts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_id.control.runtime.simulated_robot import SimulatedRobot
from robot_id.dynamics import Disturbances
from robot_id.robot import load_robot


@given(
    rate=st.sampled_from([100.0, 250.0, 500.0, 1000.0]),
    timeout=st.floats(1e-3, 0.2),
    before=st.integers(0, 5),
)
def test_a_command_acts_no_longer_than_its_time_out(rate, timeout, before):
    robot = load_robot('emps')
    loop = robot.loop('default')
    simulated = SimulatedRobot(
        robot, robot.truth(), loop, rate, Disturbances(), timeout, hold=False
    )
    for _ in range(before):
        simulated.advance_by_command()
    simulated.command(np.array([5.0]))
    came = simulated.sample
    acted = []
    for _ in range(round(1.5 * timeout * rate) + 3):
        simulated.advance_by_command()
        acted.append(simulated.effort[0] != 0.0)
    # It acts at least once; in the state that is `timeout` later there is nothing of it.
    assert acted[0]
    last = came + max(k + 1 for k, each in enumerate(acted) if each)
    assert last == came + 1 or (last - came) / rate < timeout
    assert not simulated.effort.any()
    assert simulated.stale


def test_the_default_is_used_up_to_its_last_sample():
    robot = load_robot('emps')
    simulated = SimulatedRobot(
        robot, robot.truth(), robot.loop('default'), 1000.0, Disturbances(), 0.1, hold=False
    )
    simulated.command(np.array([5.0]))
    acted = 0
    while not simulated.stale or not acted:
        simulated.advance_by_command()
        acted += bool(simulated.effort[0])
    assert acted == pytest.approx(99)
