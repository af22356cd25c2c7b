"""The criterion: its gradient, its bounds, its weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id import dynamics
from robot_id.exceptions import OptionError
from robot_id.excitation.averaged_friction import AveragedFriction
from robot_id.excitation.clearance import clearance_of
from robot_id.excitation.criteria.condition import smooth_log_condition
from robot_id.excitation.design import ExcitationOptions, make_objective
from robot_id.excitation.deviations import expected_values, weights_of_parameters
from robot_id.excitation.motion_basis import MotionBasis, make_family
from robot_id.robot import load_robot
from robot_id.trajectory import Fourier


@given(
    seed=st.integers(0, 10**6),
    b=st.integers(2, 20),
    power=st.sampled_from([2.0, 6.0, 32.0, 200.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_smooth_condition_bounds_the_condition_number(seed, b, power) -> None:
    singular = np.sort(10.0 ** np.random.default_rng(seed).uniform(-4.0, 4.0, b))[::-1]
    value, slope = smooth_log_condition(singular, power)
    exact = np.log(singular[0] / singular[-1])
    assert exact - 1e-9 <= value <= exact + 2.0 * np.log(b) / power + 1e-9
    # Scaling all singular values changes nothing: Euler's relation.
    assert slope @ singular == pytest.approx(0.0, abs=1e-9)
    step = np.zeros(b)
    step[-1] = 1e-6 * singular[-1]
    up, down = (smooth_log_condition(singular + s, power)[0] for s in (step, -step))
    assert slope[-1] * singular[-1] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize('criterion', ['condition', 'weighted', 'determinant'])
@pytest.mark.parametrize(
    ('name', 'kind', 'clear'), [('scara', 'quintic', False), ('tx40', 'fourier', True)]
)
def test_the_gradient_matches_differences(name, kind, clear, criterion) -> None:
    robot = load_robot(name)
    clearance = clearance_of(robot) if clear else None
    options = ExcitationOptions(
        kind=kind, criterion=criterion, joint_weights=tuple(1.0 + np.arange(robot.n)), order=5
    )
    objective, _ = make_objective(robot, options, clearance)
    rng = np.random.default_rng(2)
    X = objective.within_limits(3.0 * objective.family.draw(rng, robot.n))
    value, gradient = objective(X.ravel(), 4.0, 60.0)
    direction = rng.normal(size=gradient.shape) * np.abs(X).mean()
    h = 1e-4
    plus, minus = (objective(X.ravel() + s * h * direction, 4.0, 60.0)[0] for s in (1.0, -1.0))
    assert np.isfinite(value)
    assert gradient @ direction == pytest.approx((plus - minus) / (2 * h), rel=2e-2, abs=1e-4)


@pytest.mark.parametrize('name', ['tx40', 'emps_asymmetric'])
def test_averaged_friction_is_the_sign_where_nothing_turns_and_has_its_slopes(name) -> None:
    robot = load_robot(name)
    rng = np.random.default_rng(3)
    acting = dynamics.ActingRows(robot)
    friction = AveragedFriction(acting, 0.05, np.full(robot.n, 3.0))
    dq, ddq = rng.normal(size=(2, robot.n, 40))
    rows = acting(np.stack([dq, dq, ddq]))
    # At constant speed the average is the sign, as long as the joint is not at rest.
    steady = rows.copy()
    friction.replace(dq, np.zeros_like(ddq), steady)
    np.testing.assert_allclose(steady, rows, atol=0.03)

    def averaged(speed, gain):
        found = rows.copy()
        friction.replace(speed, gain, found)
        return found

    for row in friction.atoms.row:
        whole = np.sum(averaged(dq, ddq)[row] ** 2)
        assert whole == pytest.approx(np.sum(rows[row] ** 2), rel=0.15)
    G = rng.normal(size=rows.shape)
    by_dq, by_ddq = np.zeros_like(dq), np.zeros_like(ddq)
    friction.add_slopes(friction.replace(dq, ddq, rows.copy()), G, by_dq, by_ddq)
    one, two = rng.normal(size=(2, *dq.shape))
    h = 1e-7
    there, back = (np.sum(G * averaged(dq + s * h * one, ddq + s * h * two)) for s in (1, -1))
    slope = np.sum(by_dq * one) + np.sum(by_ddq * two)
    assert slope == pytest.approx((there - back) / (2.0 * h), rel=1e-4)


def test_the_torque_penalty_starts_at_the_limit_and_has_its_slope() -> None:
    robot = load_robot('scara')
    # A fraction of the limits leaves the torque limit just in reach.
    options = ExcitationOptions(
        kind='fourier', order=4, limits={'shoulder.torque': 2.0, 'elbow.torque': 0.2}
    )
    objective, _ = make_objective(robot, options)
    rng = np.random.default_rng(1)
    X = objective.within_limits(objective.family.draw(rng, 2))
    motion = objective.family.member(X, objective.limits.middle)
    t = np.arange(100) * (motion.duration / 100)
    rows = objective.acting(np.stack([part.T for part in motion.sample(t)]))
    slope, nothing = np.zeros_like(rows), np.zeros_like(rows)
    assert objective._torque_penalty(rows, slope) > 0.0
    assert not objective.feasible(X, 100)
    step = 1e-6 * rng.normal(size=rows.shape)
    up, down = (objective._torque_penalty(rows + s * step, nothing) for s in (1.0, -1.0))
    measured = up - down
    assert np.sum(slope * step) == pytest.approx(measured / 2.0, rel=1e-4)
    small = objective.shrink(X, 100)
    assert small is not None
    assert objective.feasible(small, 100)
    np.testing.assert_array_equal(small[0], X[0])


def test_figures_are_those_of_the_regressor() -> None:
    robot = load_robot('scara')
    options = ExcitationOptions(joint_weights=(1.0, 3.0))
    objective, _ = make_objective(robot, options)
    motion = Fourier.at_rest(10.0, [0.1, 0.2], *np.random.default_rng(0).normal(size=(2, 2, 5)))
    N = objective.samples
    states = motion.sample(np.arange(N) * (motion.duration / N))
    W = (dynamics.regressor(robot, *states) * np.array([1.0, 3.0])[:, None]).reshape(2 * N, -1)
    figures = objective.figures(motion)
    assert figures['condition'] == pytest.approx(np.linalg.cond(W))
    Phi = W * objective.parameter_weights
    assert figures['weighted'] == pytest.approx(np.linalg.cond(Phi))
    sign, logdet = np.linalg.slogdet(Phi.T @ Phi / N)
    assert sign == 1.0
    b = len(robot.base)
    assert figures['determinant'] == pytest.approx(np.exp(-logdet / (2 * b)))
    tau = dynamics.inverse_dynamics(robot, robot.truth(), *states)
    assert figures.torque_share == pytest.approx(np.max(np.abs(tau) / objective.limits.torque))


def test_zero_parameters_count_as_a_part_of_their_kind_on_their_link() -> None:
    robot = load_robot('tx40')
    chi, source = expected_values(robot)
    assert 'truth' in source
    weights = dict(zip(robot.base.names, weights_of_parameters(robot, chi, 0.1)))
    values = dict(zip(robot.base.names, chi))
    assert np.all(np.array(list(weights.values())) > 0.0)
    # XX6R = XX6 - YY6 is zero; the largest inertia of link 6 is XX6 = 0.00353.
    assert values['XX6R'] == 0.0
    assert weights['XX6R'] == pytest.approx(0.1 * 0.00353)
    # An offset has the unit of the Coulomb friction of its joint.
    assert weights['Off2'] == pytest.approx(0.1 * values['Fc2'])
    # What is not small keeps its own value.
    assert weights['ZZ1R'] == pytest.approx(values['ZZ1R'])
    scara = load_robot('scara')
    chi = scara.truth()
    np.testing.assert_allclose(weights_of_parameters(scara, chi, 0.02), np.abs(chi))


def test_bad_options_are_one_clear_line() -> None:
    robot = load_robot('scara')
    for options, words in (
        (ExcitationOptions(kind='spline'), "no kind of motion 'spline'"),
        (ExcitationOptions(criterion='weigted'), "did you mean 'weighted'"),
        (ExcitationOptions(seconds=0.0), 'longer than 0 s'),
        (ExcitationOptions(order=1), 'at least 2 harmonics'),
        (ExcitationOptions(kind='quintic', order=1), 'at least 2 moves'),
        (ExcitationOptions(joint_weights=(1.0,)), 'joint weights must be 2'),
        (ExcitationOptions(joint_weights=(1.0, 0.0)), 'joint weights must be 2'),
        (ExcitationOptions(fraction=2.0), 'fraction'),
    ):
        with pytest.raises(OptionError, match=words):
            make_objective(robot, options)


@pytest.mark.parametrize(('kind', 'samples'), [('fourier', 40), ('fourier', 41), ('quintic', 40)])
def test_products_of_the_half_basis_are_those_of_the_whole(kind, samples) -> None:
    rng, n = np.random.default_rng(0), 3
    basis = make_family(kind, 4.0, 5).basis
    whole = basis.sample(np.arange(samples) * (basis.duration / samples))
    half = MotionBasis(whole)
    size = sum(part.size for part in half._parts)
    assert (size < 0.6 * 3 * whole[0].size) == (kind == 'fourier')
    X, slopes = rng.normal(size=(basis.n, n)), rng.normal(size=(n, 3, samples))
    wanted = np.stack([(B @ X).T for B in whole], axis=1)
    np.testing.assert_allclose(half.motion(X), wanted, atol=1e-12 * np.abs(wanted).max())
    wanted = sum(B.T @ slopes[:, i].T for i, B in enumerate(whole))
    np.testing.assert_allclose(half.pull_back(slopes), wanted, atol=1e-12 * np.abs(wanted).max())
