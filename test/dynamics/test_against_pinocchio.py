"""The compiled kernels against pinocchio, on the shipped robots and on random ones."""

import numpy as np
import pinocchio as pin
import pytest
from errors import refused
from hypothesis import given, settings
from random_robots import SHIPPED, random_parameters, random_states, robots

from robot_id import dynamics
from robot_id.exceptions import SimulationError
from robot_id.robot import load_robot
from robot_id.robot.robot import standard_regressor


def joint_terms(robot, chi_st, dq, ddq, slope=None):
    """(n,) rotor, friction and offset torques of uncoupled joints, from the names alone."""
    value = dict(zip(robot.standard_names, chi_st))
    tau = np.zeros(robot.n)
    for j, (v, a) in enumerate(zip(dq, ddq)):
        sign = np.sign(v) if slope is None else 2 / np.pi * np.arctan(slope * v)
        k, side = j + 1, '+' if v > 0 else '-'
        if robot.joints[j].rotor_inertia == 'geared':
            tau[j] += value[f'Ia{k}'] * a
        tau[j] += (value.get(f'Fv{k}', 0.0) + value.get(f'Fv{k}{side}', 0.0)) * v
        tau[j] += (value.get(f'Fc{k}', 0.0) + value.get(f'Fc{k}{side}', 0.0)) * sign
        tau[j] += value.get(f'Off{k}', 0.0)
    return tau


def oracle(robot, chi_st, q, dq, ddq, slope=None):
    """Return tau (N, n) and M (N, n, n) of pinocchio, with the joint terms of `joint_terms`."""
    model = robot.pinocchio_with(chi_st)
    data = model.createData()
    value = dict(zip(robot.standard_names, chi_st))
    geared = [joint.rotor_inertia == 'geared' for joint in robot.joints]
    rotors = np.diag([value[f'Ia{j + 1}'] if g else 0.0 for j, g in enumerate(geared)])
    tau, M = np.empty_like(q), np.empty((*q.shape, q.shape[1]))
    for k in range(len(q)):
        terms = joint_terms(robot, chi_st, dq[k], ddq[k], slope)
        tau[k] = pin.rnea(model, data, q[k], dq[k], ddq[k]) + terms
        full = np.triu(pin.crba(model, data, q[k]))
        M[k] = full + np.triu(full, 1).T + rotors
    return tau, M


@settings(max_examples=60, deadline=None)
@given(robots())
def test_random_robots(drawn):
    robot, chi_st, rng = drawn
    q, dq, ddq = random_states(rng, robot, 6)
    chi = robot.base.from_standard(chi_st)
    for slope in (None, 30.0):
        tau, M = oracle(robot, chi_st, q, dq, ddq, slope)
        size = np.abs(tau).max()
        W = dynamics.regressor(robot, q, dq, ddq, slope)
        W_st = dynamics.regressor(robot, q, dq, ddq, slope, standard=True)
        np.testing.assert_allclose(W_st @ chi_st, tau, rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(
            dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope), W @ chi, 0, 1e-10 * size
        )
        # The groupings are found numerically, so base torques carry their rounding as well.
        np.testing.assert_allclose(W @ chi, tau, rtol=0, atol=1e-8 * size)
    inertia = dynamics.inertia_matrix(robot, chi, q)
    np.testing.assert_allclose(inertia, M, rtol=0, atol=1e-8 * np.abs(M).max())
    np.testing.assert_allclose(inertia, inertia.transpose(0, 2, 1), rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(inertia).min() > 0
    torque = dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope)
    back = dynamics.direct_dynamics(robot, chi, q, dq, torque, slope)
    limit = 1e-12 * np.linalg.cond(inertia).max() * (1 + np.abs(torque).max())
    np.testing.assert_allclose(back, ddq, rtol=0, atol=limit)


@settings(max_examples=25, deadline=None)
@given(robots())
def test_standard_regressor_columns(drawn):
    robot, _, rng = drawn
    q, dq, ddq = random_states(rng, robot, 4)
    W = dynamics.regressor(robot, q, dq, ddq, standard=True)
    reference = standard_regressor(robot, q, dq, ddq)
    np.testing.assert_allclose(W, reference, rtol=0, atol=1e-10 * (1 + np.abs(reference).max()))
    base = dynamics.regressor(robot, q, dq, ddq)
    np.testing.assert_array_equal(base, W[:, :, robot.base.columns])


@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_robots(name):
    robot, rng = load_robot(name), np.random.default_rng(1)
    q, dq, ddq = random_states(rng, robot, 300)
    reference = standard_regressor(robot, q, dq, ddq)
    size = np.abs(reference).max()
    W = dynamics.regressor(robot, q, dq, ddq, standard=True)
    np.testing.assert_allclose(W, reference, rtol=0, atol=1e-10 * size)
    for chi_st in (robot.standard_prior(), random_parameters(robot, rng)):
        chi = robot.base.from_standard(chi_st)
        tau = reference @ chi_st
        limit = 1e-10 * np.abs(tau).max()
        np.testing.assert_allclose(
            dynamics.inverse_dynamics(robot, chi, q, dq, ddq), tau, rtol=0, atol=limit
        )
        W = dynamics.regressor(robot, q, dq, ddq)
        np.testing.assert_allclose(W @ chi, tau, rtol=0, atol=limit)
    chi = robot.truth()
    model = robot.pinocchio
    data = model.createData()
    M = dynamics.inertia_matrix(robot, chi, q)
    assert np.linalg.eigvalsh(M).min() > 0
    np.testing.assert_allclose(M, M.transpose(0, 2, 1), rtol=0, atol=1e-14)
    rotors = M[0] - _crba(model, data, q[0])
    for k in range(len(q)):
        np.testing.assert_allclose(M[k] - rotors, _crba(model, data, q[k]), rtol=0, atol=1e-10)
    N = dynamics.bias(robot, chi, q, dq)
    np.testing.assert_allclose(
        np.einsum('kij,kj->ki', M, ddq) + N, dynamics.inverse_dynamics(robot, chi, q, dq, ddq),
        rtol=0, atol=1e-10 * np.abs(N).max(),
    )  # fmt: skip
    for slope in (None, 50.0):
        tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope)
        back = dynamics.direct_dynamics(robot, chi, q, dq, tau, slope)
        np.testing.assert_allclose(back, ddq, rtol=0, atol=1e-9)


def test_rotors_of_the_tx40_add_to_the_inertia_matrix():
    robot = load_robot('tx40')
    data = robot.pinocchio.createData()
    q = np.zeros(6)
    rotors = dynamics.inertia_matrix(robot, robot.truth(), q) - _crba(robot.pinocchio, data, q)
    Ia = [robot.description.truth[f'Ia{j}'] for j in range(1, 7)]
    expected = np.diag(Ia)
    expected[4, 5] = expected[5, 4] = Ia[5]
    np.testing.assert_allclose(rotors, expected, rtol=0, atol=1e-12)


def test_single_states_are_rows_of_many():
    robot, rng = load_robot('tx40'), np.random.default_rng(2)
    q, dq, ddq = random_states(rng, robot, 3)
    chi = robot.truth()
    many = dynamics.regressor(robot, q, dq, ddq)
    np.testing.assert_allclose(dynamics.regressor(robot, q[1], dq[1], ddq[1]), many[1], 0, 1e-12)
    assert dynamics.inertia_matrix(robot, chi, q[1]).shape == (6, 6)
    assert dynamics.direct_dynamics(robot, chi, q[1], dq[1], ddq[1]).shape == (6,)
    assert dynamics.bias(robot, chi, q[1], dq[1]).shape == (6,)


def test_wrong_shapes_are_refused():
    robot = load_robot('scara')
    with pytest.raises(ValueError, match=r'expected \(N, 2\)'):
        dynamics.regressor(robot, np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3)))
    with pytest.raises(ValueError, match='expected'):
        dynamics.inertia_matrix(robot, np.zeros(7), np.zeros(2))


def test_an_indefinite_estimate_names_the_sample():
    robot = load_robot('scara')
    chi = robot.truth()
    chi[robot.base.index('ZZ2R')] = -1.0
    with refused(SimulationError, code='not_positive_definite'):
        dynamics.direct_dynamics(robot, chi, np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2)))


def _crba(model, data, q):
    upper = np.triu(pin.crba(model, data, q))
    return upper + np.triu(upper, 1).T
