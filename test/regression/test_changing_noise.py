"""Deviations of a fit whose noise changes along the motion, against the exact covariance."""

import numpy as np
import pytest

from robot_id.regression.uncertainty.standard_errors import least_squares_covariance, reach_of

ROWS = 1000


def held_at_times(share=0.3, periods=10):
    """(M,) flags of rows in which a joint is held."""
    return (np.arange(ROWS) * periods / ROWS) % 1.0 < share


def moved_noise(held, taken=0.97):
    """(M, M) B of noise B u: where a joint moves, its loop takes slow noise away."""
    B = np.eye(ROWS)
    for k in range(1, ROWS):
        if not held[k]:
            B[k, k - 1] = -taken
    return B


def slopes(held, rng):
    """(M, 1, 3) slow slopes that are small where the joint is held."""
    t = np.linspace(0.0, 1.0, ROWS)
    shape = np.convolve(np.where(held, 0.0, 1.0), np.hanning(41) / np.hanning(41).sum(), 'same')
    columns = [np.cos(2.0 * np.pi * c * t + rng.uniform(0.0, 6.0)) for c in (1.0, 5.0, 8.0)]
    return (shape[:, None] * np.array(columns).T)[:, None, :]


def ratios(G, B, rng, **options):
    """(3,) estimated over exact deviations, root mean square of 40 draws."""
    W = G.reshape(ROWS, -1)
    pinv = np.linalg.pinv(W)
    exact = np.diag(pinv @ B @ B.T @ pinv.T)
    found = []
    for _ in range(40):
        rho = B @ rng.normal(size=ROWS)
        rho -= W @ (pinv @ rho)
        found.append(np.diag(least_squares_covariance([G], [rho[:, None]], **options)))
    return np.sqrt(np.mean(found, axis=0) / exact)


def test_noise_of_a_joint_that_is_held_at_times():
    rng = np.random.default_rng(4)
    held = held_at_times()
    G, B = slopes(held, rng), moved_noise(held)
    stationary = ratios(G, B, rng)
    changing = ratios(G, B, rng, changing=True)
    print('over exact: stationary', np.round(stationary, 2), 'changing', np.round(changing, 2))
    assert np.all(stationary > 1.3)
    assert changing == pytest.approx(np.ones(3), abs=0.15)


@pytest.mark.parametrize('pole', [0.0, 0.7])
def test_noise_that_does_not_change(pole):
    rng = np.random.default_rng(5)
    G = slopes(np.zeros(ROWS, bool), rng)
    lags = np.subtract.outer(np.arange(ROWS), np.arange(ROWS))
    B = np.where(lags >= 0, pole ** np.maximum(lags, 0), 0.0)
    assert ratios(G, B, rng, changing=True) == pytest.approx(np.ones(3), abs=0.15)


def test_slopes_over_all_frequencies_have_the_usual_reach():
    rng = np.random.default_rng(6)
    assert reach_of(rng.normal(size=(ROWS, 2, 3))) == pytest.approx(20, abs=1)
    assert reach_of(slopes(held_at_times(), rng)) > 60
