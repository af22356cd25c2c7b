"""Analytic derivatives against pinocchio and central differences of the inverse model."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import SHIPPED, random_robot, random_states

from robot_id import dynamics
from robot_id.robot import load_robot


def check(robot, chi, q, dq, ddq, slope):
    by_q, by_dq, M = dynamics.derivatives(robot, chi, q, dq, ddq, slope)
    h = 1e-6
    for j in range(robot.n):
        e = np.zeros(robot.n)
        e[j] = h

        def difference(dq_, dqd_, e=e):
            high = dynamics.inverse_dynamics(robot, chi, q + dq_ * e, dq + dqd_ * e, ddq, slope)
            low = dynamics.inverse_dynamics(robot, chi, q - dq_ * e, dq - dqd_ * e, ddq, slope)
            return (high - low) / (2 * h)

        size = 1.0 + np.abs(dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope)).max()
        np.testing.assert_allclose(by_q[:, :, j], difference(1, 0), rtol=1e-5, atol=1e-6 * size)
        np.testing.assert_allclose(by_dq[:, :, j], difference(0, 1), rtol=1e-5, atol=1e-6 * size)
    inertia = dynamics.inertia_matrix(robot, chi, q)
    np.testing.assert_allclose(M, inertia, rtol=0, atol=1e-9 * (1 + np.abs(inertia).max()))


@pytest.mark.parametrize('name', SHIPPED)
@pytest.mark.parametrize('slope', [None, 10.0])
def test_shipped_robots(name, slope):
    robot = load_robot(name)
    check(robot, robot.truth(), *random_states(np.random.default_rng(0), robot, 20), slope)


def by_pinocchio(robot, standard, q, dq, ddq):
    """Return d tau/d q, d tau/d dq and M of the rigid bodies alone, (n, n) each."""
    model = robot.pinocchio_with(standard)
    data = model.createData()
    A, offset = robot.kinematics.expansion(), robot.kinematics.offset
    pin.computeRNEADerivatives(model, data, A @ q + offset, A @ dq, A @ ddq)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    return [A.T @ x @ A for x in (data.dtau_dq, data.dtau_dv, M)]


@pytest.mark.parametrize('name', SHIPPED)
def test_rigid_bodies_equal_pinocchio(name):
    """Without friction and rotors, which are no part of pinocchio's model."""
    robot = load_robot(name)
    bare = robot.representative(robot.truth())
    bare[robot.term_index] = 0.0
    chi = robot.base.from_standard(bare)
    q, dq, ddq = random_states(np.random.default_rng(1), robot, 20)
    ours = dynamics.derivatives(robot, chi, q, dq, ddq)
    for k in range(len(q)):
        for a, b in zip(ours, by_pinocchio(robot, bare, q[k], dq[k], ddq[k])):
            np.testing.assert_allclose(a[k], b, rtol=1e-10, atol=1e-10 * (1 + np.abs(b).max()))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6))
def test_random_robots(seed, n):
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    robot, chi_st = random_robot(rng, n)
    q, dq, ddq = random_states(rng, robot, 3)
    # Differences must not step over the kink of one-sided friction at rest.
    dq = np.where(np.abs(dq) < 1e-3, 1e-2, dq)
    check(robot, robot.base.from_standard(chi_st), q, dq, ddq, 10.0)


def test_a_single_state():
    robot = load_robot('scara')
    parts = dynamics.derivatives(robot, robot.truth(), np.zeros(2), np.ones(2), np.ones(2))
    assert [part.shape for part in parts] == [(2, 2)] * 3
