"""A model far from the nominal robot, from the last one or beyond the torque limits is refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robot_id.control import ComputedTorque
from robot_id.control.runtime.guards import check_model
from robot_id.control.runtime.model_bounds import (
    BLEND_SHARE,
    IDENTIFIED,
    NOMINAL,
    Other,
    beyond_torque,
    blend_rate,
    far_from,
    nominal_model,
)
from robot_id.dynamics import Plant
from robot_id.exceptions import ControlError
from robot_id.robot import Payload, load_robot, payload_parameters

URDF = Path(__file__).resolve().parents[2] / 'urdf/tx40.urdf'
ROBOTS = 'emps', 'scara', 'tx40'


def others(robot, current):
    return [nominal_model(robot), Other(current, 'the model in use', IDENTIFIED)]


def refused(robot, chi, current, **options):
    try:
        check_model(robot, chi, current, 0.02, True, others(robot, current), **options)
    except ControlError:
        return True
    return False


@pytest.mark.parametrize('name', ROBOTS)
def test_the_truth_is_taken_and_scaled_models_are_not(name):
    robot = load_robot(name)
    truth = robot.truth()
    start = [nominal_model(robot)]
    assert check_model(robot, truth, robot.a_priori(), 0.02, True, start)
    assert not refused(robot, truth, truth)
    for factor in (1e-3, 0.1, 10.0, 30.0, 1e3, 1e6, 1e200):
        assert refused(robot, factor * truth, truth), factor
        with pytest.raises(ControlError):
            check_model(robot, factor * truth, robot.a_priori(), 0.02, True, start)


@pytest.mark.parametrize('name', ROBOTS)
def test_no_single_value_may_be_a_million_times_itself(name):
    robot = load_robot(name)
    truth = robot.truth()
    for i in np.flatnonzero(truth):
        chi = truth.copy()
        chi[i] *= 1e6
        assert refused(robot, chi, truth), robot.base.names[i]
    chi = truth.copy()
    chi[robot.base.index('Fc1')] = 1e5
    assert robot.joint_names[0] in beyond_torque(robot, chi)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(ROBOTS), st.floats(1e-4, 1e4))
def test_the_range_is_that_of_the_factor_on_all_values(name, factor):
    # M of all values times f is f M: every eigenvalue against the same model is f.
    robot = load_robot(name)
    truth = robot.truth()
    for low, high in (NOMINAL, IDENTIFIED):
        assume(min(abs(factor / low - 1.0), abs(factor / high - 1.0)) > 1e-6)
        found = far_from(robot, factor * truth, Other(truth, 'it', (low, high)))
        assert bool(found) == (not low <= factor <= high)


def test_a_urdf_has_no_drives_so_there_is_no_bound_above_it():
    robot = load_robot(str(URDF))
    nominal = nominal_model(robot)
    rotors = np.array([50.0 * name.startswith('Ia') for name in robot.standard_names])
    assert rotors.any()
    assert not far_from(robot, nominal.parameters + robot.base.from_standard(rotors), nominal)
    assert far_from(robot, 0.1 * nominal.parameters, nominal)


def test_a_load_that_the_robot_cannot_hold_is_refused_and_may_be_forced():
    robot = load_robot('tx40')
    truth = robot.truth()
    for mass, taken in ((1.0, True), (5.0, True), (500.0, False)):
        chi = truth + payload_parameters(robot, Payload(mass, (0.0, 0.0, 0.1)), None)
        assert bool(beyond_torque(robot, chi)) is not taken
    with pytest.raises(ControlError, match='gravity'):
        check_model(robot, chi, truth, 0.02)
    assert check_model(robot, chi, truth, 0.02, forced=True)


def test_force_does_not_make_a_robot_possible():
    robot = load_robot('scara')
    chi = robot.truth()
    chi[robot.base.index('ZZ1R')] *= -1.0
    assert refused(robot, chi, robot.truth(), forced=True)


@pytest.mark.parametrize('soft', [15.0, 40.0])
def test_a_blend_adds_no_more_speed_than_its_share(soft):
    """The model learns of gravity while the robot is held: it comes up from where it hung."""
    robot = load_robot('tx40')
    loop = robot.loop('learning').model_copy(update={'bandwidth': (soft,) * 6, 'rate_hz': 500.0})
    truth = robot.truth()
    blind = np.where([name.startswith(('MX', 'MY')) for name in robot.base.names], 0.0, truth)
    here = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 0.0])
    speeds = {}
    for limited in (False, True):
        controller = ComputedTorque(robot, blind, loop, blend_s=0.0)
        if limited:
            rate = blend_rate(robot, truth, controller.settings.kp)
            np.minimum(
                controller.settings.jump, rate * controller.period, out=controller.settings.jump
            )
        plant = Plant(robot, truth, here, np.zeros(6), rate_hz=500.0)
        controller.reset(here)
        rest = np.zeros(6)
        positions = []
        for k in range(3000):
            if k == 1500:
                controller.set_parameters(truth)
            positions.append(plant.measured.copy())
            plant.advance(controller.step(positions[-1], here, rest, rest))
        assert not controller.blending
        moved = np.abs(np.diff(positions[1500:], axis=0)) * 500.0
        speeds[limited] = (moved / robot.limits.velocity).max()
        assert np.abs(positions[-1] - here).max() < 1e-2
    # A ramp overshoots its speed by 5 % in a loop with the damping of this one.
    assert speeds[True] < 1.2 * BLEND_SHARE
    assert speeds[True] <= speeds[False]
