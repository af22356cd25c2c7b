"""M(q) of a controller's model: a theorem where a robot can have it, a search where none can."""

import numpy as np
import pytest

from robot_id.control import ComputedTorque
from robot_id.control.essential import WindowFit, possible_window
from robot_id.control.guards import check_model, proven_positive
from robot_id.control.posture_search import possible_robot, weakest_posture
from robot_id.dynamics import inertia_matrix
from robot_id.exceptions import ControlError
from robot_id.model import load_robot
from robot_id.regression.physical import Fitter
from robot_id.regression.physical.witness import witness


@pytest.mark.parametrize('name', ['scara', 'emps', 'tx40'])
def test_the_truth_has_a_witness_and_one_that_brakes_backwards_has_none(name):
    robot = load_robot(name)
    chi = robot.truth()
    x = witness(Fitter(robot), chi)
    assert np.allclose(robot.base.from_standard(x), chi, rtol=1e-8, atol=1e-9)
    chi[robot.base.index('Fv1')] *= -1.0
    assert witness(Fitter(robot), chi) is None


def test_the_search_finds_the_posture_that_samples_miss():
    # M(q) of a planar arm is singular at q2 = pi first, where cos(q2) = -1.
    robot = load_robot('scara')
    chi = robot.truth()
    q = np.linspace(-2.6, 2.6, 2001)[:, None] * [0.0, 1.0]
    chi[robot.base.index('ZZ1R')] = 0.0
    chi[robot.base.index('LMX2')] *= 2.0
    least = np.linalg.eigvalsh(inertia_matrix(robot, chi, q))[:, 0].min()
    assert not possible_robot(robot, chi)
    assert weakest_posture(robot, chi).value <= least + 1e-3 * abs(least)
    assert least < 0
    with pytest.raises(ControlError, match='physical=true'):
        proven_positive(robot, chi)
    with pytest.raises(ControlError, match='positive definite'):
        check_model(robot, chi, robot.truth(), 0.0)
    with pytest.raises(ControlError, match='positive definite'):
        ComputedTorque(robot, chi).check_inertia()
    assert ComputedTorque(robot, robot.truth()).check_inertia()


def test_a_model_that_no_robot_has_is_taken_after_a_search_and_not_called_proven():
    robot = load_robot('scara')
    chi = robot.truth()
    chi[robot.base.index('Fv2')] = -0.01  # M(q) does not hold it
    assert not proven_positive(robot, chi)
    assert not ComputedTorque(robot, chi).check_inertia()
    assert proven_positive(robot, robot.truth())
    assert not check_model(robot, chi, chi, 0.0)


@pytest.mark.parametrize('name', ['scara', 'emps', 'tx40'])
def test_the_a_priori_values_of_a_shipped_robot_are_accepted(name):
    robot = load_robot(name)
    ComputedTorque(robot).check_inertia()


def test_a_window_that_no_robot_explains_becomes_one_that_can_exist():
    robot = load_robot('scara')
    b, chi = len(robot.base), robot.truth()
    chi[robot.base.index('Fv2')] = -0.01
    passed = np.array([name in ('Fv2', 'Fc2') for name in robot.base.names])
    covariance = np.full((b, b), np.nan)
    covariance[np.ix_(passed, passed)] = np.diag([1e-4, 1e-4])
    nothing = np.full(b, np.nan)
    fit = WindowFit(chi, nothing, nothing, passed, passed, covariance, 1.0, np.zeros(2))
    found = possible_window(fit, Fitter(robot)).values
    assert possible_robot(robot, found)
    assert not possible_robot(robot, chi)
    assert np.allclose(found[~passed], chi[~passed], rtol=0.01, atol=1e-4)
