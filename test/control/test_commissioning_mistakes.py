"""Mistakes of commissioning on MuJoCo plants, in one process: named before the robot moves far."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from commissioning.in_process import measure
from commissioning.robots import BODIES, FRICTION, MACHINES, is_friction, prepare
from commissioning.rows import NONE
from plants.free_mechanics import Mechanics, Settings
from plants.mujoco_arms import robots_folder

from robot_id.control.supervision.start_rate import STEPS, StartRate
from robot_id.control.supervision.weight import explain_weight
from robot_id.dynamics import bias
from robot_id.methods.result import Result
from robot_id.robot import load_robot

# What the words must name: a joint, or what is to be checked.
NAMED = {
    'emps': {'scale': 'scale of its torque', 'gear': 'gear ratio', 'delay': 'torque lags'},
    'scara': {
        'sign': "sign of joint 'elbow' is reversed",
        'swap': "'shoulder' and 'elbow' are swapped",
        'scale': 'scale of its torque',
        'gear': 'gear ratio',
        'unit': 'degrees',
        'rate too low': 'rate_hz to 25',
    },
    'tx40': {'sign': "sign of joint 'joint_2' is reversed"},
    'panda': {
        'sign': "sign of joint 'panda_joint2' is reversed",
        'swap': "'panda_joint2' and 'panda_joint3' are swapped",
        'offset': "zero of joint 'panda_joint2'",
        'gravity compensated': 'gravity itself',
        'wrong robot file': 'robot file',
    },
}


def prepared_robot(name, folder):
    if MACHINES[name].stock and robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    return prepare(name, folder)


@pytest.mark.parametrize('name', list(MACHINES))
def test_the_plant_weighs_what_the_model_of_the_robot_says(name, tmp_path):
    prepared = prepared_robot(name, tmp_path)
    arm = Mechanics(Settings.read(prepared.settings))
    robot = prepared.robot
    factors = np.where(is_friction(robot), FRICTION, BODIES)
    truth = Result.load(prepared.model).values / factors
    expected = bias(robot, truth, arm.q, np.zeros(robot.n), 1e3)
    assert arm.gravity() == pytest.approx(expected, abs=1e-4 * np.max(robot.limits.torque))


@pytest.mark.parametrize('name', list(NAMED))
def test_a_mistake_is_named_within_the_bounds(name, tmp_path):
    prepared = prepared_robot(name, tmp_path)
    for mistake, words in NAMED[name].items():
        row = measure(prepared, mistake, 'commission')
        assert row.stopped, row.text
        assert words in row.named, row.text
        assert row.torque < 0.2, row.text
        assert row.motion < 5.0 / 360.0, row.text
        assert row.speed < 1.0, row.text


@pytest.mark.parametrize('name', ['emps', 'scara'])
def test_a_right_robot_agrees_and_moves_within_its_limits(name, tmp_path):
    prepared = prepared_robot(name, tmp_path)
    for way in ('commission', 'move'):
        row = measure(prepared, NONE, way)
        assert not row.stopped, row.text
        assert row.violation == 'none', row.text
        assert row.within, row.text


@pytest.mark.parametrize(('jitter', 'told'), [(0.0, False), (2e-5, False), (1e-3, True)])
def test_a_jitter_of_the_stamps_is_told_and_is_no_wrong_rate(jitter, told):
    rate, source = StartRate(250.0), np.random.default_rng(0)
    for k in range(STEPS + 1):
        rate.feed(round(1e9 * (1.0 + k / 250.0 + source.uniform(-jitter, jitter))))
    assert rate.right
    assert bool(rate.jitter) is told


def test_a_wrong_zero_and_a_carried_gravity_are_told_by_the_torques_that_hold_the_joints():
    robot = load_robot('tx40')
    chi, q = robot.truth(), np.array([0.2, 0.5, 0.9, 0.3, 0.6, 0.2])
    limit = robot.limits.torque
    weight = bias(robot, chi, q, np.zeros(6))
    found = explain_weight(robot, chi, q, -weight, limit)
    assert 'carries 100%' in found[0].text
    shifted = q - 0.4 * np.eye(6)[2]
    found = explain_weight(robot, chi, q, bias(robot, chi, shifted, np.zeros(6)) - weight, limit)
    assert found[0].joint == 2
    assert '0.4' in found[0].text
