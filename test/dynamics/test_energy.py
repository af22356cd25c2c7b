"""Energy of a free swing: constant without friction, else it falls by the friction's work."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot

from robot_id import dynamics
from robot_id.robot import load_robot

SLOPE = 20.0


def swing(robot, chi, friction, q, dq, step, steps):
    """Integrate by RK4 with no motor torque; return q, dq and the work that friction took."""
    still = np.zeros(robot.n)

    def rate(q, dq):
        ddq = dynamics.direct_dynamics(robot, chi, q, dq, still, SLOPE)
        loss = dq @ dynamics.bias(robot, friction, q, dq, SLOPE)
        return np.concatenate([dq, ddq, [loss]])

    n, x = robot.n, np.concatenate([q, dq, [0.0]])
    for _ in range(steps):
        k1 = rate(x[:n], x[n:-1])
        k2 = rate(*np.split((x + 0.5 * step * k1)[:-1], 2))
        k3 = rate(*np.split((x + 0.5 * step * k2)[:-1], 2))
        k4 = rate(*np.split((x + step * k3)[:-1], 2))
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[:n], x[n:-1], x[-1]


def energy(robot, chi, chi_st, q, dq):
    model = robot.pinocchio_with(chi_st)
    potential = pin.computePotentialEnergy(model, model.createData(), q)
    return 0.5 * dq @ dynamics.inertia_matrix(robot, chi, q) @ dq + potential


def split(robot, chi_st):
    """Return chi without friction and offset, and chi of the friction alone."""
    frictional = np.array([name.startswith('F') for name in robot.standard_names])
    offset = np.array([name.startswith('Off') for name in robot.standard_names])
    rigid = np.where(frictional | offset, 0.0, chi_st)
    friction = np.where(frictional, chi_st, 0.0)
    return robot.base.from_standard(rigid), robot.base.from_standard(friction)


@pytest.mark.parametrize('name', ['scara', 'tx40'])
@pytest.mark.parametrize('with_friction', [False, True])
def test_free_swing(name, with_friction):
    robot = load_robot(name)
    chi_st = robot.standard_prior()
    rigid, friction = split(robot, chi_st)
    if not with_friction:
        friction = 0.0 * friction
    q = np.linspace(0.4, -0.3, robot.n)
    dq = np.linspace(1.0, 2.0, robot.n)
    end_q, end_dq, loss = swing(robot, rigid + friction, friction, q, dq, 5e-4, 400)
    start = energy(robot, rigid, chi_st, q, dq)
    end = energy(robot, rigid, chi_st, end_q, end_dq)
    moved = 0.5 * dq @ dynamics.inertia_matrix(robot, rigid, q) @ dq
    assert np.abs(end_q - q).max() > 0.1
    assert abs(start - end - loss) < 1e-6 * moved
    assert (loss > 0.05 * moved) if with_friction else (loss == 0.0)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 5))
def test_free_swing_of_random_robots(seed, n):
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    robot, chi_st = random_robot(rng, n)
    rigid, friction = split(robot, chi_st)
    q, dq = rng.uniform(-1, 1, n), rng.normal(0, 1, n)
    end_q, end_dq, loss = swing(robot, rigid + friction, friction, q, dq, 1e-4, 150)
    start = energy(robot, rigid, chi_st, q, dq)
    end = energy(robot, rigid, chi_st, end_q, end_dq)
    size = 0.5 * dq @ dynamics.inertia_matrix(robot, rigid, q) @ dq + abs(start - end)
    assert loss >= 0.0
    assert abs(start - end - loss) < 1e-5 * size
