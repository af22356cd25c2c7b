"""The state-space model: its Jacobian against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id import dynamics
from robot_id.exceptions import OptionError
from robot_id.methods.kalman.filter import NotPositive, StateModel
from robot_id.robot import load_robot

ROBOTS = {name: load_robot(name) for name in ('scara', 'emps', 'tx40')}
seeds = st.integers(0, 2**32 - 1)


def random_state(robot, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, robot.n), rng.normal(0, 2, robot.n), rng.normal(0, 5, robot.n)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('discretisation', ['euler', 'midpoint', 'cut'])
@settings(deadline=None, max_examples=5)
@given(seed=seeds)
def test_jacobian_is_the_slope_of_the_step(name, discretisation, seed):
    robot = ROBOTS[name]
    q, dq, tau = random_state(robot, seed)
    model = StateModel(robot, 2e-3, discretisation, coulomb_slope=5.0)
    z = np.concatenate([dq, q, robot.truth()])
    ahead, F = model.advance(z, tau)
    assert np.allclose(ahead, model.advance_many(z[None, :], tau)[0], rtol=0, atol=1e-12)
    eps = 1e-6 * np.maximum(np.abs(z), 1e-2)
    for j in range(z.size):
        up, down = z.copy(), z.copy()
        up[j] += eps[j]
        down[j] -= eps[j]
        pair = model.advance_many(np.stack([up, down]), tau)
        slope = (pair[0] - pair[1]) / (2 * eps[j])
        tolerance = 1e-6 * (1 + np.abs(F).max())
        assert np.allclose(F[:, j], slope[: 2 * robot.n], rtol=1e-5, atol=tolerance)


def test_parameters_that_are_no_possible_body_are_no_obstacle():
    """Negative inertia of a link with M(q) > 0 thanks to its rotor: any base set counts."""
    robot = ROBOTS['tx40']
    chi = robot.truth()
    chi[robot.base.index('XX4R')] = -0.01
    q, dq, tau = random_state(robot, 3)
    model = StateModel(robot, 1e-3)
    assert np.linalg.eigvalsh(dynamics.inertia_matrix(robot, chi, q)).min() > 0
    ddq, J = model.linearise(np.concatenate([dq, q, chi]), tau)
    assert np.allclose(dynamics.inverse_dynamics(robot, chi, q, dq, ddq), tau, atol=1e-9)
    M = dynamics.inertia_matrix(robot, chi, q)
    phi = dynamics.regressor(robot, q, dq, ddq)
    assert np.allclose(-M @ J[:, 2 * robot.n :], phi, atol=1e-9 * np.abs(phi).max())


def test_second_order():
    """One midpoint step against many small ones: the error falls with the third power."""
    robot = ROBOTS['scara']
    z = np.concatenate([[1.0, -2.0], [0.3, 0.8], robot.truth()])
    tau = np.array([5.0, 0.4])

    def error(h):
        fine = StateModel(robot, h / 200, coulomb_slope=1.0)
        exact = z.copy()
        for _ in range(200):
            exact = fine.advance(exact, tau)[0]
        one = StateModel(robot, h, coulomb_slope=1.0).advance(z, tau)[0]
        return np.abs(one - exact).max()

    assert error(0.02) / error(0.01) == pytest.approx(8.0, rel=0.15)


def test_lost_inertia_is_refused():
    robot = ROBOTS['scara']
    model = StateModel(robot, 1e-2)
    with pytest.raises(NotPositive):
        model.advance(np.zeros(model.size), np.ones(2))
    with pytest.raises(NotPositive):
        model.accelerations(np.zeros((1, model.size)), np.ones(2))
    with pytest.raises(OptionError, match='did you mean'):
        StateModel(robot, 1e-2, 'eulers')


TURN = np.array([0.4, 0.15]), np.array([0.3, 0.8]), np.array([-90.0, -4.0])


def followed(robot, z, tau, step, count, slope):
    """Return a state after so many short steps."""
    fine = StateModel(robot, step / count, 'cut', slope)
    for _ in range(count):
        z = fine.advance(z, tau)[0]
    return z


@pytest.mark.parametrize('seed', range(6))
def test_joints_that_turn_within_a_period(seed):
    """Friction that turns within 1 mrad/s, 5 ms: the speed after it is right to 1 %."""
    robot = ROBOTS['scara']
    scale = np.random.default_rng(seed).uniform(0.5, 1.5, 2)
    dq, q, tau = TURN
    z = np.concatenate([dq * scale, q, robot.truth()])
    exact = followed(robot, z, tau, 5e-3, 2000, 1000.0)
    model = StateModel(robot, 5e-3, 'cut', 1000.0)
    ahead, F = model.advance(z, tau)
    # One midpoint step misses the elbow by up to a tenth of its change.
    assert np.allclose(ahead[:2] - z[:2], exact[:2] - z[:2], rtol=5e-3, atol=0)
    assert np.allclose(ahead, model.advance_many(z[None, :], tau)[0], rtol=0, atol=1e-12)
    for j in (0, 1, robot.base.index('Fc2') + 4):
        eps = np.zeros(z.size)
        eps[j] = 1e-7
        up, down = model.advance_many(np.stack([z + eps, z - eps]), tau)
        assert np.allclose(F[:, j], (up - down)[:4] / 2e-7, rtol=1e-3, atol=1e-4)


def test_torques_within_a_period_act_one_after_the_other():
    robot = ROBOTS['tx40']
    q, dq, tau = random_state(robot, 4)
    torques = tau + np.random.default_rng(5).normal(0, 2, (5, robot.n))
    z = np.concatenate([dq, q, robot.truth()])
    ahead, F = StateModel(robot, 1e-3, 'cut', 20.0).advance(z, torques)
    short = StateModel(robot, 2e-4, 'cut', 20.0)
    expected, slopes = z, np.eye(z.size)
    for each in torques:
        expected, top = short.advance(expected, each)
        step = np.eye(z.size)
        step[: 2 * robot.n] = top
        slopes = step @ slopes
    assert np.allclose(ahead, expected, rtol=0, atol=1e-12)
    assert np.allclose(F, slopes[: 2 * robot.n], rtol=1e-9, atol=1e-12)
