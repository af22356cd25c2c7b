"""Recursive LS and IV against their batch solutions; memories; supervision on synthetic rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.exceptions import DataError, OptionError
from robot_id.methods.recursive.information import SquareRootInformation
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.recursive_iv import RecursiveInstrumentalVariables
from robot_id.methods.recursive.recursive_ls import RecursiveLeastSquares

seeds = st.integers(0, 2**32 - 1)


def names(b):
    return tuple(f'p{i}' for i in range(b))


def rows(rng, N, m, b, noise=0.1):
    W = rng.standard_normal((N, m, b)) * 10.0 ** rng.uniform(-2, 2, b)
    chi = rng.standard_normal(b) * 10.0 ** rng.uniform(-2, 1, b)
    return W, W @ chi + noise * rng.standard_normal((N, m)), chi


def batch(W, y):
    b = W.shape[-1]
    W = W.reshape(-1, b)
    scale = np.linalg.norm(W, axis=0)
    return np.linalg.lstsq(W / scale, y.ravel(), rcond=None)[0] / scale


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 10), st.integers(1, 4))
def test_rls_without_forgetting_is_batch_ls(seed, b, m):
    rng = np.random.default_rng(seed)
    W, y, _ = rows(rng, 60, m, b)
    rls = RecursiveLeastSquares(names(b))
    for k in range(60):
        rls.update(W[k], y[k])
    expected = batch(W, y)
    assert np.allclose(rls.estimate, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    flat = W.reshape(-1, b)
    residual = y.ravel() - flat @ expected
    variance = residual @ residual / (residual.size - b)
    covariance = variance * np.linalg.inv(flat.T @ flat)
    assert np.allclose(rls.covariance, covariance, rtol=1e-6, atol=1e-9 * covariance.max())


def test_a_block_is_the_same_as_its_samples():
    W, y, _ = rows(np.random.default_rng(1), 50, 2, 5)
    one, block = RecursiveLeastSquares(names(5)), RecursiveLeastSquares(names(5))
    for k in range(50):
        one.update(W[k], y[k])
    block.update(W, y)
    assert np.array_equal(one.estimate, block.estimate)


def test_noise_weights_the_equations():
    rng = np.random.default_rng(2)
    W, y, _ = rows(rng, 80, 2, 4)
    noise = np.array([0.1, 3.0])
    rls = RecursiveLeastSquares(names(4), noise=noise)
    rls.update(W, y)
    assert np.allclose(rls.estimate, batch(W / noise[:, None], y / noise), rtol=1e-9)


def test_exponential_memory_is_weighted_batch_ls():
    W, y, _ = rows(np.random.default_rng(3), 300, 2, 4)
    memory = Memory('exponential', samples=40)
    rls = RecursiveLeastSquares(names(4), memory=memory)
    rls.update(W, y)
    age = np.arange(300)[::-1]
    weight = np.sqrt(memory.forgetting**age)
    assert np.allclose(
        rls.estimate, batch(W * weight[:, None, None], y * weight[:, None]), rtol=1e-8
    )


@pytest.mark.parametrize('length', [200, 205, 219, 220])
def test_window_is_batch_ls_on_its_last_blocks(length):
    W, y, _ = rows(np.random.default_rng(4), length, 2, 4)
    rls = RecursiveLeastSquares(names(4), memory=Memory('window', samples=100, blocks=5))
    rls.update(W, y)
    first = length - 100 - length % 20
    assert np.allclose(rls.estimate, batch(W[first:], y[first:]), rtol=1e-9)


def test_a_prior_is_a_regularised_batch():
    W, y, _ = rows(np.random.default_rng(5), 3, 1, 5)
    start, std = np.arange(5.0), np.array([1, 0.1, 2, 3, 0.5])
    rls = RecursiveLeastSquares(names(5), start=start, initial_std=std)
    assert np.allclose(rls.estimate, start)
    rls.update(W, y)
    A = np.vstack([W.reshape(-1, 5), np.diag(1 / std)])
    rhs = np.concatenate([y.ravel(), start / std])
    assert np.allclose(rls.estimate, np.linalg.lstsq(A, rhs, rcond=None)[0], rtol=1e-8)


def test_constant_trace_follows_a_step_and_stops_forgetting_at_rest():
    rng = np.random.default_rng(6)
    W, _, _ = rows(rng, 3000, 1, 3)
    chi = np.where(np.arange(3000)[:, None] < 1500, [1.0, 2.0, 3.0], [1.5, 2.0, 3.0])
    y = np.einsum('kmb,kb->km', W, chi) + 0.01 * rng.standard_normal((3000, 1))
    scale = 1 / np.abs(W).mean(axis=(0, 1))
    rls = RecursiveLeastSquares(
        names(3), scale=scale, memory=Memory('constant_trace', samples=100, lowest=0.9)
    )
    rls.update(W[:1500], y[:1500])
    assert np.allclose(rls.estimate, chi[0], rtol=0.02)
    rls.update(W[1500:], y[1500:])
    assert np.allclose(rls.estimate, chi[-1], rtol=0.02)
    before, spread = rls.estimate, rls._theta_covariance()
    rls.update(np.zeros((500, 1, 3)), np.zeros((500, 1)))
    assert np.array_equal(rls.estimate, before)
    assert np.allclose(rls._theta_covariance(), spread, rtol=1e-9)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 8))
def test_riv_is_batch_iv(seed, b):
    rng = np.random.default_rng(seed)
    Z, y, _ = rows(rng, 100, 2, b)
    W = Z * (1 + 0.1 * rng.standard_normal(Z.shape))
    riv = RecursiveInstrumentalVariables(names(b))
    riv.update(W, y, Z)
    flat = Z.reshape(-1, b)
    expected = np.linalg.solve(flat.T @ W.reshape(-1, b), flat.T @ y.ravel())
    assert riv.left_out == 0
    assert np.allclose(riv.estimate, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize('kind', ['exponential', 'window'])
def test_riv_memories(kind):
    rng = np.random.default_rng(7)
    Z, y, _ = rows(rng, 320, 1, 3)
    W = Z * (1 + 0.1 * rng.standard_normal(Z.shape))
    memory = Memory(kind, samples=100, blocks=10)
    riv = RecursiveInstrumentalVariables(names(3), memory=memory)
    riv.update(W, y, Z)
    weight = memory.forgetting ** np.arange(320)[::-1] if kind == 'exponential' else np.ones(320)
    weight[: 320 - 100 if kind == 'window' else 0] = 0.0
    flat = (Z * weight[:, None, None]).reshape(-1, 3)
    expected = np.linalg.solve(flat.T @ W.reshape(-1, 3), flat.T @ y.ravel())
    assert np.allclose(riv.estimate, expected, rtol=1e-6)


def test_riv_is_consistent_where_rls_is_not():
    """Errors in the variables: LS shrinks by var/(var + noise), IV does not."""
    rng = np.random.default_rng(8)
    Z = rng.standard_normal((20000, 1, 2))
    y = Z @ np.array([2.0, -1.0]) + 0.1 * rng.standard_normal((20000, 1))
    W = Z + rng.standard_normal(Z.shape)
    rls, riv = RecursiveLeastSquares(names(2)), RecursiveInstrumentalVariables(names(2))
    rls.update(W, y)
    riv.update(W, y, Z)
    assert np.allclose(rls.estimate, [1.0, -0.5], atol=0.05)
    assert np.allclose(riv.estimate, [2.0, -1.0], atol=0.1)
    assert np.all(np.abs(riv.estimate - [2.0, -1.0]) < 4 * np.sqrt(np.diag(riv.covariance)))


def test_riv_needs_instruments():
    riv = RecursiveInstrumentalVariables(names(2))
    with pytest.raises(DataError, match='instruments'):
        riv.update(np.ones((1, 2)), np.ones(1))
    with pytest.raises(OptionError, match='constant_trace'):
        RecursiveInstrumentalVariables(names(2), memory=Memory('constant_trace'))


def test_bad_samples_are_refused_and_counted():
    W, y, _ = rows(np.random.default_rng(9), 40, 2, 3)
    rls = RecursiveLeastSquares(names(3))
    rls.update(W, y)
    before = rls.estimate
    bad = W[0].copy()
    bad[0, 0] = np.nan
    assert not rls.update(bad, y[0])
    assert not rls.update(W[0], np.array([np.inf, 0.0]))
    assert np.array_equal(rls.estimate, before)
    status = rls.status()
    assert status.rejected == 2
    assert 'not finite' in status.rejected_reason
    with pytest.raises(DataError, match=r'a sample is W \(m, 3\)'):
        rls.update(np.ones((2, 4)), np.ones(2))
    with pytest.raises(DataError, match='blocks differ'):
        rls.update(W, y[:-1])


def test_nothing_is_claimed_before_there_are_enough_data():
    rls = RecursiveLeastSquares(names(3), start=[1.0, 2.0, 3.0])
    rls.update(np.ones((2, 3)), np.ones(2))
    assert np.array_equal(rls.estimate, [1.0, 2.0, 3.0])
    status = rls.status()
    assert status.live == ()
    assert 'waiting' in status.parameters[0].reason
    assert np.isnan(rls.covariance).all()


def test_options_are_checked():
    with pytest.raises(OptionError, match='did you mean'):
        Memory('exponentail')
    with pytest.raises(OptionError, match='samples'):
        Memory('window', samples=0)
    with pytest.raises(OptionError, match='start must be 2'):
        RecursiveLeastSquares(names(2), start=[1.0])
    with pytest.raises(OptionError, match='positive'):
        RecursiveLeastSquares(names(2), scale=[1.0, 0.0])
    with pytest.raises(OptionError, match='noise'):
        RecursiveLeastSquares(names(2), noise=-1.0)


def test_information_residual_is_the_least_squares_residual():
    W, y, _ = rows(np.random.default_rng(10), 50, 2, 4)
    information = SquareRootInformation(4, Memory())
    for k in range(50):
        information.add(W[k], y[k], 2)
    residual = y.ravel() - W.reshape(-1, 4) @ batch(W, y)
    assert information.residual_squared == pytest.approx(residual @ residual, rel=1e-8)
