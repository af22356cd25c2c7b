"""UD factors against plain covariance algebra, the textbook form kept here as the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.exceptions import IdentificationError
from robot_id.methods.kalman import ud_prediction
from robot_id.methods.recursive import recursive_iv, ud


def random_covariance(rng, b, spread=1.0):
    A = rng.standard_normal((b, b))
    Q, _ = np.linalg.qr(A)
    return (Q * 10.0 ** rng.uniform(-spread, spread, b)) @ Q.T


def plain_observe(x, P, h, y, r):
    S = h @ P @ h + r
    K = P @ h / S
    return x + K * (y - h @ x), P - np.outer(K, h @ P)


seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 12))
def test_factors_compose_to_the_matrix(seed, b):
    P = random_covariance(np.random.default_rng(seed), b)
    L, d = ud.factorise(P)
    assert np.all(d > 0)
    assert np.allclose(np.triu(L, 1), 0)
    assert np.allclose(np.diag(L), 1)
    assert np.allclose(ud.compose(L, d), P, atol=1e-12 * np.abs(P).max())


def test_semidefinite_is_factorised_and_indefinite_refused():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((5, 2))
    L, d = ud.factorise(V @ V.T)
    assert np.allclose(ud.compose(L, d), V @ V.T, atol=1e-12)
    with pytest.raises(IdentificationError, match='not positive'):
        ud.factorise(np.diag([1.0, -1.0]))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 12))
def test_from_information_is_the_inverse(seed, b):
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.standard_normal((3 * b + 2, b)), mode='r')
    L, d = ud.from_information(R)
    P = ud.compose(L, d)
    assert np.allclose(P @ (R.T @ R), np.eye(b), atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(2, 12))
def test_filter_equals_the_plain_one(seed, b):
    """A run of time and observation updates, well conditioned: equal to 1e-8."""
    rng = np.random.default_rng(seed)
    P, x = random_covariance(rng, b), rng.standard_normal(b)
    L, d = ud.factorise(P)
    z, gain = x.copy(), np.empty(b)
    for _ in range(20):
        F = np.eye(b) + 0.1 * rng.standard_normal((b, b))
        q = 10.0 ** rng.uniform(-3, 0, b)
        x, P = F @ x, F @ P @ F.T + np.diag(q)
        z = F @ z
        ud_prediction.predict(L, d, F, q)
        h, y, r = rng.standard_normal(b), rng.standard_normal(), 10.0 ** rng.uniform(-2, 0)
        x, P = plain_observe(x, P, h, y, r)
        ud.observe(z, L, d, h, y, r, gain)
    scale = np.abs(P).max()
    assert np.allclose(ud.compose(L, d), P, atol=1e-8 * scale)
    assert np.allclose(z, x, atol=1e-8 * (1 + np.abs(x).max()))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 5), st.integers(0, 8))
def test_structured_prediction_equals_the_general_one(seed, m, tail):
    rng = np.random.default_rng(seed)
    b = m + tail
    F = np.eye(b)
    F[:m] += 0.3 * rng.standard_normal((m, b))
    q = np.zeros(b)
    q[:m] = rng.uniform(0, 1, m)
    P = random_covariance(rng, b)
    L, d = ud.factorise(P)
    ud_prediction.predict_constant_tail(L, d, F[:m].copy(), q[:m])
    expected = F @ P @ F.T + np.diag(q)
    assert np.allclose(ud.compose(L, d), expected, atol=1e-10 * np.abs(expected).max())
    assert np.allclose(np.triu(L, 1), 0)


def test_stays_positive_where_the_plain_filter_does_not():
    """A huge prior and near-perfect, nearly dependent observations (Bierman's classic case)."""
    eps = 1e-9
    P = np.eye(3) * 1e8
    L, d = ud.factorise(P)
    x, z, gain = np.zeros(3), np.zeros(3), np.empty(3)
    rows = np.array([[1, 1, 1], [1, 1, 1 + eps], [1, 1 - eps, 1], [1, 1, 1]], float)
    for h in np.tile(rows, (5, 1)):
        x, P = plain_observe(x, P, h, 1.0, 1e-12)
        ud.observe(z, L, d, h, 1.0, 1e-12, gain)
    assert np.linalg.eigvalsh(0.5 * (P + P.T)).min() < 0
    assert np.all(d > 0)
    assert np.all(np.isfinite(z))


def test_trace_and_constant_trace_rule():
    rng = np.random.default_rng(3)
    b = 6
    P = random_covariance(rng, b)
    L, d = ud.factorise(P)
    assert ud.trace(L, d) == pytest.approx(np.trace(P), rel=1e-12)
    x, target = np.zeros(b), np.trace(P)
    for _ in range(50):
        H, y = rng.standard_normal((2, b)) * 0.02, rng.standard_normal(2)
        _, forgetting = ud.observe_rows_constant_trace(x, L, d, H, y, target, 1e-3)
        assert 0.0 < forgetting < 1.0
        assert ud.trace(L, d) == pytest.approx(target, rel=1e-9)


def test_no_data_means_no_forgetting_under_constant_trace():
    L, d, x = np.eye(3), np.ones(3), np.zeros(3)
    _, forgetting = ud.observe_rows_constant_trace(x, L, d, np.zeros((5, 3)), np.ones(5), 3.0, 0.1)
    assert forgetting == 1.0
    assert np.all(d == 1.0)


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 10))
def test_instrument_update_is_the_matrix_inversion_lemma(seed, b):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(b)
    A, rhs = np.eye(b), x.copy()
    Lu, Lv, d = np.eye(b), np.eye(b), np.ones(b)
    for _ in range(3 * b + 5):
        H = rng.standard_normal((2, b))
        Z = H + 0.2 * rng.standard_normal((2, b))
        y = rng.standard_normal(2)
        if recursive_iv.observe_instrument_rows(x, Lu, Lv, d, H, Z, y, 0.99):
            return
        A, rhs = 0.99 * A + Z.T @ H, 0.99 * rhs + Z.T @ y
    tolerance = 1e-10 * np.linalg.cond(A) * (1 + np.abs(x).max())
    assert np.allclose((Lu.T * d) @ Lv @ A, np.eye(b), atol=1e-10 * np.linalg.cond(A))
    assert np.allclose(x, np.linalg.solve(A, rhs), atol=tolerance)


def test_parameters_of_very_different_size_keep_their_deviations():
    size = np.array([1e-12, 1.0, 1e4])
    root = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [-0.3, 0.2, 1.0]])
    P = root @ root.T * size * size[:, None]
    np.testing.assert_allclose(ud.compose(*ud.factorise(P)), P, rtol=1e-9)
