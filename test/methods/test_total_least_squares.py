"""Total least squares: orthogonal regression, errors in variables, exact columns."""

import numpy as np
import pytest

from robot_id.exceptions import IdentificationError
from robot_id.methods.idim.idim_tls import total_least_squares
from robot_id.regression.solvers.triangular import JointFactors


def factor(W, Y):
    names = [f'p{i}' for i in range(W.shape[1])]
    return JointFactors.of_rows(names, [(W, Y)]).stack()


def every(count):
    return np.ones(count, bool)


def none(count):
    return np.zeros(count, bool)


def test_one_column_is_orthogonal_regression_of_the_scaled_columns():
    rng = np.random.default_rng(0)
    w = rng.normal(size=(200, 1))
    y = 3.0 * w[:, 0] + 0.5 * rng.normal(size=200)
    found = total_least_squares(factor(w, y), 200, every(1), none(1)).chi[0]
    # Two unit vectors a, b with a'b = c: the total least squares slope is sign(c) for any |c|.
    assert found == pytest.approx(np.linalg.norm(y) / np.linalg.norm(w))


def test_consistent_data_give_the_exact_solution():
    rng = np.random.default_rng(1)
    W = rng.normal(size=(50, 4)) * [1, 10, 0.1, 1]
    chi = np.array([1.0, -2.0, 30.0, 0.5])
    for exact in (none(4), np.array([False, True, False, True])):
        solution = total_least_squares(factor(W, W @ chi), 50, every(4), exact)
        np.testing.assert_allclose(solution.chi, chi, rtol=1e-7)


def noisy(seed, r=4000, level=0.15):
    """Errors of the same size relative to every column, none in the last, constant one."""
    rng = np.random.default_rng(seed)
    W = np.column_stack([rng.normal(size=(r, 2)) * [1.0, 20.0], np.ones(r)])
    chi = np.array([2.0, -0.1, 1.5])
    clean = np.column_stack([W, W @ chi])
    norms = np.sqrt(np.mean(clean**2, axis=0)) * np.array([1.0, 1.0, 0.0, 1.0])
    noise = level * rng.normal(size=clean.shape) * norms
    return (clean + noise)[:, :3], (clean + noise)[:, 3], chi


def test_errors_in_w_bias_ols_but_not_tls():
    exact = np.array([False, False, True])
    scores, attenuation = [], []
    for seed in range(40):
        W, Y, chi = noisy(seed)
        solution = total_least_squares(factor(W, Y), len(Y), every(3), exact)
        scores.append((solution.chi - chi) / np.sqrt(np.diag(solution.covariance)))
        attenuation.append(np.linalg.lstsq(W, Y)[0][0] / chi[0])
    scores = np.array(scores)
    assert np.mean(attenuation) < 0.985
    assert np.all(np.abs(scores.mean(axis=0)) < 3.5 / np.sqrt(40))
    assert 0.7 < scores.std() < 1.4


def test_a_parameter_that_is_left_out_stays_zero():
    W, Y, _ = noisy(0)
    kept = np.array([True, False, True])
    solution = total_least_squares(factor(W, Y), len(Y), kept, none(3))
    assert solution.chi[1] == 0.0
    other = total_least_squares(factor(W[:, kept], Y), len(Y), every(2), none(2))
    np.testing.assert_allclose(solution.chi[kept], other.chi, rtol=1e-10)


def test_no_column_with_errors_or_too_few_rows_is_refused():
    W, Y, _ = noisy(0)
    with pytest.raises(IdentificationError, match='idim_ols'):
        total_least_squares(factor(W, Y), len(Y), every(3), every(3))
    with pytest.raises(IdentificationError, match='3 equations'):
        total_least_squares(factor(W[:3], Y[:3]), 3, every(3), none(3))
