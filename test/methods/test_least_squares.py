"""Streaming factors against whole matrices; rank, covariance, selection against closed forms."""

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.exceptions import IdentificationError
from robot_id.methods.idim.selecting import eliminate
from robot_id.regression.solvers.least_squares import deficiency, solve
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import JointFactors, RowFactor

NAMES = ('a', 'b', 'c', 'd')


def problem(seed, rows=400, sigmas=(0.1, 1.0, 5.0), chi=(3.0, -1.0, 0.02, 40.0)):
    rng = np.random.default_rng(seed)
    blocks = []
    for sigma in sigmas:
        W = rng.normal(size=(rows, len(chi))) * [1.0, 2.0, 30.0, 0.1]
        blocks.append((W, W @ np.array(chi) + sigma * rng.normal(size=rows)))
    return blocks


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(0, 10**6))
def test_blocks_of_any_size_give_the_factor_of_the_whole(sizes, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(sum(sizes), 4)) * [1.0, 1e3, 1e-3, 1.0]
    factor = RowFactor(4)
    for block in np.split(rows, np.cumsum(sizes)[:-1]):
        factor.add(block)
    np.testing.assert_allclose(
        factor.R.T @ factor.R, rows.T @ rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max()
    )
    assert factor.rows == len(rows)
    np.testing.assert_array_equal(factor.R, np.triu(factor.R))


def test_ols_and_wls_from_factors_equal_lstsq_on_all_rows():
    blocks = problem(1)
    factors = JointFactors.of_rows(NAMES, blocks)
    W, Y = np.vstack([w for w, _ in blocks]), np.concatenate([y for _, y in blocks])
    np.testing.assert_allclose(
        solve(factors.stack(), len(Y), NAMES).chi, np.linalg.lstsq(W, Y)[0], rtol=1e-10
    )
    weights = 1.0 / factors.joint_deviations()
    scale = np.repeat(weights, 400)
    solution = solve(factors.stack(weights), len(Y), NAMES)
    chi, rss, _, s = np.linalg.lstsq(W * scale[:, None], Y * scale)
    np.testing.assert_allclose(solution.chi, chi, rtol=1e-10)
    assert solution.residual_norm**2 == pytest.approx(rss[0])
    assert solution.condition_number == pytest.approx(s[0] / s[-1])
    Ww = W * scale[:, None]
    np.testing.assert_allclose(
        solution.covariance, rss[0] / (len(Y) - 4) * np.linalg.inv(Ww.T @ Ww), rtol=1e-8
    )
    for j, norm in enumerate(factors.residual_norms(solution.chi)):
        assert norm == pytest.approx(np.linalg.norm(blocks[j][1] - blocks[j][0] @ solution.chi))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_a_joint_with_few_rows_has_a_weight_that_its_noise_can_have(rows, seed):
    blocks = problem(seed, sigmas=(0.1, 1.0, 5.0))
    blocks[1] = tuple(part[:rows] for part in blocks[1])
    weights, sigma = System(JointFactors.of_rows(NAMES, blocks)).joint_weights()
    np.testing.assert_allclose(sigma[[0, 2]], [0.1, 5.0], rtol=0.3)
    # Whatever its rows leave: neither more than its torque nor as little as rounding.
    assert 1e-3 < sigma[1] < np.sqrt(np.mean(blocks[1][1] ** 2)) * 2.0
    np.testing.assert_allclose(weights * sigma, 1.0)


def test_joints_without_any_noise_are_solved_exactly():
    factors = JointFactors.of_rows(NAMES, problem(3, sigmas=(0.0, 0.0, 0.0)))
    solution = System(factors).solve(System(factors).joint_weights()[0])[0]
    np.testing.assert_allclose(solution.chi, (3.0, -1.0, 0.02, 40.0), rtol=1e-9)


def test_joint_deviations_are_those_of_each_joints_own_regression_also_with_repeated_columns():
    rng = np.random.default_rng(2)
    W = rng.normal(size=(50, 3))
    W = np.column_stack([W, W[:, 0] + W[:, 1]])
    Y = rng.normal(size=50)
    sigma = JointFactors.of_rows(NAMES, [(W, Y)]).joint_deviations()[0]
    rho = Y - W[:, :3] @ np.linalg.lstsq(W[:, :3], Y)[0]
    assert sigma == pytest.approx(np.sqrt(rho @ rho / (50 - 3)))


def test_a_column_of_zeros_is_named():
    W, Y = problem(3)[0]
    W[:, 2] = 0.0
    R = JointFactors.of_rows(NAMES, [(W, Y)]).stack()
    with refused(IdentificationError, code='not_identifiable', value=('c',)):
        solve(R, 400, NAMES)
    kept = np.array([True, True, False, True])
    reduced = solve(R, 400, NAMES, kept)
    np.testing.assert_allclose(reduced.chi[kept], np.linalg.lstsq(W[:, kept], Y)[0], rtol=1e-9)
    assert np.isnan(reduced.covariance[2]).all()


def test_repeated_columns_are_named_together_with_what_they_repeat():
    W, Y = problem(4)[0]
    W[:, 3] = 2.0 * W[:, 0] - W[:, 1]
    lacking = deficiency(JointFactors.of_rows(NAMES, [(W, Y)]).stack(), NAMES)
    assert len(lacking.names) == 1
    ((name, others),) = lacking.repeated
    assert {name, *others} == {'a', 'b', 'd'}


def test_badly_scaled_columns_are_not_called_deficient():
    W, Y = problem(5)[0]
    scale = np.array([1e3, 1e-3, 1.0, 1.0])
    R = JointFactors.of_rows(NAMES, [(W * scale, Y)]).stack()
    assert not deficiency(R, NAMES)
    np.testing.assert_allclose(
        solve(R, 400, NAMES).chi * scale, np.linalg.lstsq(W, Y)[0], rtol=1e-8
    )


def test_fewer_equations_than_parameters_and_infinite_rows_are_refused():
    W, Y = problem(6)[0]
    R = JointFactors.of_rows(NAMES, [(W[:4], Y[:4])]).stack()
    with refused(IdentificationError, code='too_few_equations', value=4, bound=4):
        solve(R, 4, NAMES)
    R[0, 0] = np.inf
    with refused(IdentificationError, code='not_finite'):
        solve(R, 400, NAMES)


def test_deviations_cover_the_truth():
    chi = np.array([3.0, -1.0, 0.02, 40.0])
    scores = []
    for seed in range(200):
        blocks = problem(seed, rows=60)
        factors = JointFactors.of_rows(NAMES, blocks)
        solution = solve(factors.stack(1.0 / factors.joint_deviations()), 180, NAMES)
        scores.append((solution.chi - chi) / np.sqrt(np.diag(solution.covariance)))
    scores = np.array(scores)
    assert np.mean(np.abs(scores) < 3.0) > 0.99
    assert 0.85 < scores.std() < 1.15


def test_elimination_removes_what_is_zero_and_keeps_what_matters():
    kept_wrongly, lost = 0, 0
    for seed in range(100):
        blocks = problem(seed, sigmas=(1.0,), chi=(3.0, 0.0, 0.2, 0.0))
        R = JointFactors.of_rows(NAMES, blocks).stack()
        full = solve(R, 400, NAMES)
        reduced, removed = eliminate(R, 400, NAMES, full)
        kept_wrongly += reduced.kept[1] + reduced.kept[3]
        lost += (not reduced.kept[0]) + (not reduced.kept[2])
        assert set(removed) == {n for n, k in zip(NAMES, reduced.kept) if not k}
    assert lost == 0
    assert kept_wrongly <= 20  # 5 % of 200 by the level of the test, with its scatter
