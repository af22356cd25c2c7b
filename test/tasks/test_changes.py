"""Changes within a recording are named with their time; suggestions were tried before."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.dynamics import inverse_dynamics
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify


@pytest.fixture(scope='module')
def plain():
    """Return a SCARA, its recording, and the velocities and torques of friction in it."""
    robot = load_robot('scara')
    data = record(robot, seed=900)
    run = data.runs[0]
    dq = np.gradient(run.position, run.time, axis=0)
    still = np.zeros_like(dq)
    slope = robot.description.coulomb_slope
    both = [
        inverse_dynamics(robot, robot.truth(), run.position, v, still, slope) for v in (dq, -dq)
    ]
    return robot, data, 0.5 * (both[0] - both[1])


def identified(plain, torque):
    """Return the result of the recording with other torques."""
    robot, data, _ = plain
    run = replace(data.runs[0], torque=torque)
    return identify(Request(robot, replace(data, runs=(run,)), check=False)).result


def part(data):
    """(N, 1) share of the recording that has passed."""
    return np.linspace(0.0, 1.0, len(data.runs[0]))[:, None]


def test_a_right_recording_has_neither(plain):
    result = identified(plain, plain[1].runs[0].torque)
    assert result.verdict == 'usable', result.reasons
    assert result.suggestions == ()


def test_friction_that_warms_up(plain):
    _, data, friction = plain
    torque = data.runs[0].torque - 0.4 * (1.0 - np.exp(-3.0 * part(data))) * friction
    result = identified(plain, torque)
    assert result.verdict == 'caution'
    assert any('along the recording friction changes' in text for text in result.reasons)


def test_a_torque_whose_gain_steps(plain):
    _, data, _ = plain
    torque = data.runs[0].torque * np.where(part(data) > 0.5, [[1.0, 1.3]], 1.0)
    result = identified(plain, torque)
    middle = data.runs[0].time[-1] / 2.0
    assert result.verdict != 'usable'
    assert any(f'from {middle:.3g} s on' in text for text in result.reasons), result.reasons


def test_a_torque_with_another_gain_than_the_others(plain):
    """Bodies that two joints move tell the ratio of their gains."""
    _, data, _ = plain
    result = identified(plain, data.runs[0].torque * [1.2, 1.0])
    assert result.verdict == 'caution', (result.verdict, result.reasons)
    assert any("is 1.2 times that of '" in text for text in result.reasons), result.reasons
    assert any('wrong torque gain' in text for text in result.reasons)


def test_a_wrong_gain_is_named_though_it_hardly_moves_the_residual():
    """The parameters of the first joint of six hide most of its gain."""
    robot = load_robot('tx40')
    data = record(robot, seed=901)
    run = data.runs[0]
    run = replace(run, torque=run.torque * [1.2, 1.0, 1.0, 1.0, 1.0, 1.0])
    result = identify(Request(robot, replace(data, runs=(run,)), check=False)).result
    assert result.verdict == 'caution'
    assert any("'joint_1' is 1." in text for text in result.reasons), result.reasons


def test_friction_of_the_load_is_suggested_with_its_gain(plain, tmp_path):
    _, data, friction = plain
    run = data.runs[0]
    rigid = run.torque - friction
    torque = run.torque + 0.2 * np.sign(friction) * np.abs(rigid)
    result = identified(plain, torque)
    first = result.suggestions[0]
    assert first['code'] == 'friction_auto'
    assert 0.0 < first['after_percent'] < 0.8 * first['before_percent']
    assert len(result.suggestions) <= 3
    result.save(tmp_path / 'result.json')
    assert Result.load(tmp_path / 'result.json').suggestions == result.suggestions
