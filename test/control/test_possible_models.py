"""M(q) of a controller's model: a theorem where a robot can have it, else refused or searched."""

import numpy as np
import pytest
from errors import refused

from bench.bench_physical import random_arm
from robot_id.control import ComputedTorque
from robot_id.control.learning.essential import WindowFit, consistent_window
from robot_id.control.runtime.guards import (
    check_model,
    is_consistent,
    positive_everywhere,
    weakest_posture,
)
from robot_id.dynamics import inertia_matrix
from robot_id.exceptions import ControlError
from robot_id.regression.consistency import Fitter
from robot_id.regression.consistency.membership import consistent_standard
from robot_id.robot import Payload, load_robot, payload_parameters


@pytest.mark.parametrize('name', ['scara', 'emps', 'tx40'])
def test_the_truth_has_a_witness_and_one_that_brakes_backwards_has_none(name):
    robot = load_robot(name)
    chi = robot.truth()
    x = consistent_standard(Fitter(robot), chi)
    assert np.allclose(robot.base.from_standard(x), chi, rtol=1e-8, atol=1e-9)
    chi[robot.base.index('Fv1')] *= -1.0
    assert consistent_standard(Fitter(robot), chi) is None


def test_the_search_finds_the_posture_that_samples_miss():
    # M(q) of a planar arm is singular at q2 = pi first, where cos(q2) = -1.
    robot = load_robot('scara')
    chi = robot.truth()
    q = np.linspace(-2.6, 2.6, 2001)[:, None] * [0.0, 1.0]
    chi[robot.base.index('ZZ1R')] = 0.0
    chi[robot.base.index('LMX2')] *= 2.0
    least = np.linalg.eigvalsh(inertia_matrix(robot, chi, q))[:, 0].min()
    assert not is_consistent(robot, chi)
    assert weakest_posture(robot, chi).value <= least + 1e-3 * abs(least)
    assert least < 0
    with refused(ControlError, code='not_positive_definite'):
        positive_everywhere(robot, chi, physical=False)
    with pytest.raises(ControlError, match='positive definite'):
        check_model(robot, chi, robot.truth(), 0.0)
    with refused(ControlError, code='not_consistent'):
        ComputedTorque(robot, chi).check_inertia()
    assert ComputedTorque(robot, robot.truth()).check_inertia()


def test_a_model_that_no_robot_has_is_refused_and_taken_after_a_search_where_that_is_wanted():
    robot = load_robot('scara')
    chi = robot.truth()
    chi[robot.base.index('Fv2')] = -0.01  # M(q) does not hold it
    for attempt in (
        lambda: positive_everywhere(robot, chi),
        lambda: ComputedTorque(robot, chi).check_inertia(),
        lambda: check_model(robot, chi, chi, 0.0),
    ):
        with refused(ControlError, code='not_consistent'):
            attempt()
    assert not positive_everywhere(robot, chi, physical=False)
    assert not ComputedTorque(robot, chi).check_inertia(physical=False)
    assert not check_model(robot, chi, chi, 0.0, physical=False)
    assert positive_everywhere(robot, robot.truth())


@pytest.mark.parametrize('name', ['scara', 'emps', 'emps_asymmetric', 'tx40'])
def test_m_of_the_a_priori_values_of_a_shipped_robot_is_proven_positive(name):
    robot = load_robot(name)
    assert positive_everywhere(robot, robot.a_priori())


def test_a_load_on_rotors_alone_is_proven_too():
    # A point mass has a pseudo-inertia of rank one, all other bodies have none at all.
    robot = load_robot('tx40')
    chi = robot.a_priori() + payload_parameters(robot, Payload(1.0, (0.0, 0.02, 0.1)), None)
    assert positive_everywhere(robot, chi)
    assert not is_consistent(robot, chi - 2.0 * (chi - robot.a_priori()))


def test_a_witness_is_found_for_whatever_a_random_arm_was_or_is_fitted_with():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        robot, x = random_arm(rng, int(rng.integers(1, 8)))
        fitter, chi = Fitter(robot), robot.base.from_standard(x)
        assert consistent_standard(fitter, chi) is not None
        noisy = chi + 0.1 * np.abs(chi) * rng.normal(size=chi.shape)
        fitted = fitter.project(noisy, np.diag((0.1 * chi) ** 2 + 1e-12)).chi
        found = consistent_standard(fitter, fitted)
        assert found is not None
        assert np.allclose(robot.base.from_standard(found), fitted, rtol=1e-8, atol=1e-8)
        q = rng.uniform(-3, 3, (50, robot.n))
        assert np.linalg.eigvalsh(inertia_matrix(robot, fitted, q)).min() > 0.0


def test_a_window_that_no_robot_explains_becomes_one_that_can_exist():
    robot = load_robot('scara')
    b, chi = len(robot.base), robot.truth()
    chi[robot.base.index('Fv2')] = -0.01
    passed = np.array([name in ('Fv2', 'Fc2') for name in robot.base.names])
    covariance = np.full((b, b), np.nan)
    covariance[np.ix_(passed, passed)] = np.diag([1e-4, 1e-4])
    nothing = np.full(b, np.nan)
    fit = WindowFit(chi, nothing, nothing, passed, passed, covariance, 1.0, np.zeros(2))
    found = consistent_window(fit, Fitter(robot)).values
    assert is_consistent(robot, found)
    assert not is_consistent(robot, chi)
    assert np.allclose(found[~passed], chi[~passed], rtol=0.01, atol=1e-4)
