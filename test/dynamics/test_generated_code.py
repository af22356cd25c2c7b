"""Compiled code: the same numbers as the kernels and as pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_oracle import Oracle, tied_robot
from random_robots import SHIPPED, random_parameters, random_robot, random_states

from robot_id import dynamics
from robot_id.control import tune
from robot_id.dynamics.generated import compiler, library
from robot_id.dynamics.generated.c_writer import batch_source
from robot_id.dynamics.generated.evaluate import evaluate
from robot_id.dynamics.generated.functions import trace
from robot_id.exceptions import SimulationError
from robot_id.methods.kalman import state_kernels
from robot_id.methods.kalman.filter import StateModel
from robot_id.robot import load_robot
from robot_id.trajectory.random import random_trajectory

N = library.ENOUGH_STATES
pytestmark = pytest.mark.skipif(compiler.compiler() is None, reason='no C compiler')


def all_functions(robot, chi, states, G, slope):
    q, dq, ddq = states
    tau = 10.0 * ddq
    return {
        'inverse_dynamics': (dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope),),
        'bias': (dynamics.bias(robot, chi, q, dq, slope),),
        'inertia_matrix': (dynamics.inertia_matrix(robot, chi, q),),
        'direct_dynamics': (dynamics.direct_dynamics(robot, chi, q, dq, tau, slope),),
        'regressor': (dynamics.regressor(robot, q, dq, ddq, slope),),
        'derivatives': dynamics.derivatives(robot, chi, q, dq, ddq, slope),
        'regressor_slopes': dynamics.regressor_slopes(robot, q, dq, ddq, G, slope),
    }


def with_and_without(monkeypatch, compute):
    monkeypatch.setenv(library.SWITCH, '0')
    generic = compute()
    monkeypatch.setenv(library.SWITCH, '1')
    return compute(), generic


@pytest.mark.parametrize('name', SHIPPED)
@pytest.mark.parametrize('slope', [None, 40.0])
def test_same_numbers_as_the_kernels(name, slope, monkeypatch):
    robot, rng = load_robot(name), np.random.default_rng(3)
    states = random_states(rng, robot, N)
    G = rng.normal(size=(N, robot.n, len(robot.base)))
    made, generic = with_and_without(
        monkeypatch, lambda: all_functions(robot, robot.truth(), states, G, slope)
    )
    for function, parts in generic.items():
        assert library.code_for(robot, function.replace('bias', 'inverse_dynamics'), slope or 0.0)
        for a, b in zip(made[function], parts):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * (1 + np.abs(b).max()))


@pytest.mark.parametrize('kind', ['tree', 'tied', 'coupled'])
def test_compiled_code_of_random_robots_equals_pinocchio(kind, own_cache):
    rng = np.random.default_rng(8)
    pin.seed(8)
    robot = random_robot(rng, 7)[0] if kind == 'tree' else tied_robot(rng, 4, 6, kind == 'coupled')
    chi = robot.base.from_standard(random_parameters(robot, rng))
    q, dq, ddq = random_states(rng, robot, N)
    tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq)
    W = dynamics.regressor(robot, q, dq, ddq)
    M = dynamics.inertia_matrix(robot, chi, q)
    assert len(list(own_cache.glob('*.so'))) == 3
    oracle = Oracle(robot, chi)
    for k in range(5):
        expected = oracle.regressor(q[k], dq[k], ddq[k])
        size = 1 + np.abs(expected).max()
        np.testing.assert_allclose(W[k], expected, rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(tau[k], expected @ chi, rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(M[k], oracle.inertia(q[k]), rtol=0, atol=1e-10 * size)


def test_lost_inertia_and_nan_are_told_as_by_the_kernels(monkeypatch):
    robot, rng = load_robot('scara'), np.random.default_rng(0)
    q, dq, tau = random_states(rng, robot, N)
    chi = robot.truth()
    chi[0] = -1.0

    def message():
        with pytest.raises(SimulationError) as error:
            dynamics.direct_dynamics(robot, chi, q, dq, tau)
        return str(error.value)

    made, generic = with_and_without(monkeypatch, message)
    assert made == generic
    dq[3, 0] = q[5, 1] = np.nan
    made, generic = with_and_without(
        monkeypatch, lambda: dynamics.inverse_dynamics(robot, robot.truth(), q, dq, tau)
    )
    np.testing.assert_array_equal(np.isnan(made), np.isnan(generic))


@pytest.mark.parametrize('name', SHIPPED)
def test_simulation_is_the_same(name, monkeypatch):
    robot = load_robot(name)
    loop = robot.loop()
    reference = random_trajectory(robot.limits, 0.3, harmonics=4).sampled(loop.rate_hz)
    controller = tune(robot, loop)
    made, generic = with_and_without(
        monkeypatch, lambda: dynamics.simulate(robot, robot.truth(), reference, controller)
    )
    assert library.code_for(robot, 'direct_dynamics', robot.description.coulomb_slope)
    for record in ('position', 'velocity', 'torque'):
        a, b = getattr(made, record), getattr(generic, record)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * (1 + np.abs(b).max()))


@pytest.mark.parametrize('slope', [None, 40.0])
def test_state_model_of_the_filters_is_the_same(slope, monkeypatch):
    robot, rng = load_robot('tx40'), np.random.default_rng(2)
    z = np.concatenate([rng.normal(size=12), robot.truth()])
    tau = rng.normal(size=6)

    def compute():
        model = StateModel(robot, 1e-3, 'midpoint', slope)
        positive = state_kernels.positive(model.arrays, robot.truth(), rng.normal(size=(5, 6)))
        assert positive
        return (
            *model.linearise(z, tau),
            *model.advance(z, tau),
            model.accelerations(z[None], tau),
        )

    made, generic = with_and_without(monkeypatch, compute)
    for a, b in zip(made, generic):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * (1 + np.abs(b).max()))


@pytest.mark.parametrize('name', ['friction', 'gravity'])
def test_more_sines_and_arc_tangents_than_a_vector_holds(name, tmp_path):
    rng = np.random.default_rng(4)
    robot = random_robot(rng, 12, serial=True, prismatic=False)[0]
    chi = robot.base.from_standard(random_parameters(robot, rng))
    q, dq, _ = random_states(rng, robot, 3)
    formula = trace(robot, name, True)
    source = batch_source(formula)
    assert ('atan1[' if name == 'friction' else 'sin1[') in source
    compiler.compile_library(source, tmp_path / 'function.so')
    tau = np.empty_like(q)
    library.Code((tmp_path / 'function.so').read_bytes())(chi, 20.0, (q, dq, q), (tau,))
    for k in range(len(q)):
        state = {'chi': chi, 'q': q[k], 'dq': dq[k], 'slope': 20.0}
        wanted = evaluate(formula, **state)['tau']
        np.testing.assert_allclose(tau[k], wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
