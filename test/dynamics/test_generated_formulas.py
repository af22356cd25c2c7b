"""The traced formulas, by their values: against pinocchio and the generic kernels."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pinocchio_oracle import Oracle, one_state, rigid_derivatives, tied_robot
from random_robots import SHIPPED, random_parameters, random_robot

from robot_id import dynamics
from robot_id.dynamics.generated.evaluate import evaluate, operations_in_order
from robot_id.dynamics.generated.functions import FUNCTIONS, trace
from robot_id.dynamics.generated.symbols import Trace, TraceError
from robot_id.robot import load_robot


def value(robot, name, smooth=False, **inputs):
    return evaluate(trace(robot, name, smooth), **inputs)


def close(a, b, tolerance=1e-10):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * (1.0 + np.abs(b).max()))


@st.composite
def drawn_robots(draw):
    """Draw (robot, standard parameters, generator): trees, chains, mimic joints, couplings."""
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 12))
    kind = draw(st.sampled_from(['tree', 'aligned', 'tied', 'coupled']))
    rng = np.random.default_rng(seed)
    pin.seed(seed % 2**31)
    if kind in ('tree', 'aligned'):
        robot, chi_st = random_robot(rng, n, aligned=kind == 'aligned')
        return robot, chi_st, rng
    bodies = min(12, n + int(rng.integers(0, 3))) if kind == 'tied' else n
    robot = tied_robot(rng, n, bodies, kind == 'coupled')
    return robot, random_parameters(robot, rng), rng


@settings(max_examples=15, deadline=None)
@given(drawn_robots())
def test_all_functions_equal_pinocchio(drawn):
    robot, chi_st, rng = drawn
    q, dq, ddq = one_state(rng, robot)
    chi = robot.base.from_standard(chi_st)
    oracle = Oracle(robot, chi)
    state = {'chi': chi, 'q': q, 'dq': dq, 'x': ddq}
    tau = oracle.torque(q, dq, ddq)
    close(value(robot, 'inverse_dynamics', **state)['tau'], tau)
    close(value(robot, 'regressor', **state)['W'], oracle.regressor(q, dq, ddq))
    close(value(robot, 'gravity', **state)['tau'], oracle.gravity(q))
    close(value(robot, 'friction', **state)['tau'], oracle.friction(dq))
    close(value(robot, 'bias', **state)['tau'], oracle.torque(q, dq, 0.0 * ddq))
    M = oracle.inertia(q)
    close(value(robot, 'inertia_matrix', **state)['M'], M)
    # What the direct model returns needs this torque, whatever the condition of M(q).
    if np.linalg.eigvalsh(M).min() > 1e-9 * np.abs(M).max():
        back = value(robot, 'direct_dynamics', **{**state, 'x': tau})['ddq']
        size = 1.0 + np.max(np.abs(tau) + np.abs(M) @ np.abs(back))
        np.testing.assert_allclose(oracle.torque(q, dq, back), tau, rtol=0, atol=1e-10 * size)
    state['chi'] = np.where(np.isin(robot.base.columns, robot.term_index), 0.0, chi)
    parts = value(robot, 'derivatives', **state)
    by_q, by_dq = rigid_derivatives(robot, state['chi'], q, dq, ddq)
    close(parts['by_q'], by_q)
    close(parts['by_dq'], by_dq)
    close(parts['by_ddq'], value(robot, 'inertia_matrix', **state)['M'], 1e-12)


@pytest.mark.parametrize('name', SHIPPED)
@pytest.mark.parametrize('slope', [None, 40.0])
def test_formulas_equal_the_kernels(name, slope):
    robot, rng = load_robot(name), np.random.default_rng(4)
    chi = robot.truth()
    q, dq, ddq = one_state(rng, robot)
    G = rng.normal(size=(robot.n, len(robot.base)))
    kernels = {
        'inverse_dynamics': dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope),
        'bias': dynamics.bias(robot, chi, q, dq, slope),
        'inertia_matrix': dynamics.inertia_matrix(robot, chi, q),
        'direct_dynamics': dynamics.direct_dynamics(robot, chi, q, dq, ddq, slope),
        'regressor': dynamics.regressor(robot, q, dq, ddq, slope),
        'derivatives': dynamics.derivatives(robot, chi, q, dq, ddq, slope),
        'regressor_slopes': [
            x[0]
            for x in dynamics.regressor_slopes(robot, q[None], dq[None], ddq[None], G[None], slope)
        ],
    }
    state = {'chi': chi, 'q': q, 'dq': dq, 'x': ddq, 'G': G, 'slope': slope or 0.0}
    for function, expected in kernels.items():
        found = value(robot, function, slope is not None, **state)
        several = isinstance(expected, (tuple, list))
        for a, b in zip(found.values(), expected if several else [expected]):
            close(a, b, 1e-12)


@pytest.mark.parametrize('name', SHIPPED)
def test_parameters_as_constants(name):
    robot, rng = load_robot(name), np.random.default_rng(5)
    chi = robot.truth()
    q, dq, ddq = one_state(rng, robot)
    for function in FUNCTIONS:
        if 'chi' in FUNCTIONS[function].reads:
            fixed = trace(robot, function, False, chi)
            free = trace(robot, function, False)
            a, b = evaluate(fixed, q=q, dq=dq, x=ddq), evaluate(free, chi=chi, q=q, dq=dq, x=ddq)
            for key in a:
                close(a[key], b[key], 1e-12)
            assert len(operations_in_order(fixed)) <= len(operations_in_order(free))


def test_not_a_number_stays_one():
    robot = load_robot('scara')
    q, dq = np.zeros(2), np.array([np.nan, 1.0])
    tau = value(robot, 'friction', chi=robot.truth(), q=q, dq=dq)['tau']
    assert np.isnan(tau[0])
    assert np.isfinite(tau[1])


def test_equal_operations_are_one_symbol_and_constants_fold():
    t = Trace()
    x, y = t.input('x'), t.input('y')
    assert x + y is y + x
    assert (x - y) is -(y - x)
    assert x * 0.0 == x - x == 0.0
    assert x * 1.0 is x
    assert (2.0 * x) * (3.0 * y) is 6.0 * (x * y)
    assert (-x) * y is -(x * y)
    assert x / 4.0 is 0.25 * x


def test_a_branch_on_a_state_is_refused_where_it_has_no_formula():
    x = Trace().input('x')
    with pytest.raises(TraceError, match='branches on a state'):
        bool(x > 0.0)
