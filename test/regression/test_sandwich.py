"""The covariance of a fit with coloured, cross-correlated residuals against its exact value."""

import numpy as np
import pytest

from robot_id.regression.uncertainty import sandwich
from robot_id.regression.uncertainty.standard_errors import least_squares_covariance


def regression(rng, rows=600, joints=2, parameters=5):
    """(M, n, p) slow regressors, as a motion has them."""
    t = np.linspace(0.0, 1.0, rows)
    phase = rng.uniform(0.0, 2.0 * np.pi, (joints, parameters))
    cycles = rng.uniform(1.0, 30.0, (joints, parameters))
    return np.cos(2.0 * np.pi * cycles * t[:, None, None] + phase)


def coloured(rng, rows, pole, mix):
    """(M, n) first-order noise with a known covariance between the joints."""
    white = rng.normal(size=(rows + 200, 2)) @ mix.T
    for k in range(1, len(white)):
        white[k] += pole * white[k - 1]
    return white[200:]


def exact_covariance(G, pole, mix):
    """A^-1 G' Gamma G A^-1 with the covariance of the noise written out."""
    M, _, p = G.shape
    lags = np.abs(np.subtract.outer(np.arange(M), np.arange(M)))
    gamma = np.kron(pole**lags / (1.0 - pole**2), mix @ mix.T)
    W = G.reshape(-1, p)
    pinv = np.linalg.pinv(W)
    return pinv @ gamma @ pinv.T


@pytest.mark.parametrize('pole', [-0.6, 0.0, 0.7])
def test_deviations_are_those_of_the_noise_that_acts(pole):
    rng = np.random.default_rng(3)
    mix = np.array([[1.0, 0.0], [0.8, 0.5]])
    G = regression(rng)
    exact = exact_covariance(G, pole, mix)
    W = G.reshape(-1, G.shape[2])
    found = []
    for _ in range(30):
        noise = coloured(rng, len(G), pole, mix)
        rho = noise.ravel() - W @ np.linalg.lstsq(W, noise.ravel(), rcond=None)[0]
        found.append(np.diag(least_squares_covariance([G], [rho.reshape(noise.shape)])))
    ratio = np.sqrt(np.mean(found, axis=0) / np.diag(exact))
    print('estimated over exact deviation', np.round(ratio, 2))
    assert ratio == pytest.approx(np.ones(5), abs=0.15)


def test_rows_that_are_left_out_do_not_count():
    rng = np.random.default_rng(5)
    G, rho = regression(rng), rng.normal(size=(600, 2))
    G[200:300], rho[200:300] = 0.0, 0.0
    shorter = [np.concatenate([G[:200], G[300:]])], [np.concatenate([rho[:200], rho[300:]])]
    ours, theirs = least_squares_covariance([G], [rho]), least_squares_covariance(*shorter)
    assert np.sqrt(np.diag(ours)) == pytest.approx(np.sqrt(np.diag(theirs)), rel=0.15)


def test_blocks_and_spectrum_agree_on_long_recordings(monkeypatch):
    rng = np.random.default_rng(6)
    G = regression(rng, rows=6000)
    rho = coloured(rng, 6000, 0.5, np.eye(2))
    spectral = least_squares_covariance([G], [rho])
    monkeypatch.setattr(sandwich, 'LONG', 1000)
    blocks = least_squares_covariance([G], [rho])
    ratio = np.sqrt(np.diag(blocks) / np.diag(spectral))
    assert np.median(ratio) == pytest.approx(1.0, abs=0.2)
    # The same from Q of the whole, which a long recording has no memory for.
    p = G.shape[2]
    Q, R = np.linalg.qr(G.reshape(-1, p))
    root = np.linalg.solve(R, np.eye(p))
    whole = root @ sandwich.score_covariance([Q.reshape(G.shape)], [rho]) @ root.T
    np.testing.assert_allclose(blocks, whole, rtol=0, atol=1e-10 * np.abs(whole).max())
