"""The autocorrelation of the residual against processes whose correlation is known."""

import numpy as np
import pytest

from robot_id.regression.uncertainty.residuals import warn_if_correlated, whiteness


def autoregressive(r, N, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=N)
    series = np.empty(N)
    series[0] = noise[0] / np.sqrt(1 - r**2)
    for k in range(1, N):
        series[k] = r * series[k - 1] + noise[k]
    return series


def test_white_noise_is_found_white_with_a_rest_band_too():
    rng = np.random.default_rng(1)
    for _ in range(20):
        rho = rng.normal(size=2000)
        used = rng.random(2000) > 0.3
        judged = whiteness([rho], [used])
        assert judged.factor < 1.15
        assert abs(judged.lag_1) < 0.12
    assert warn_if_correlated([judged], ['j1']) == ()


@pytest.mark.parametrize('r', [0.3, 0.7, 0.9])
def test_the_factor_of_a_first_order_process_is_the_known_one(r):
    judged = whiteness([autoregressive(r, 40000)])
    assert judged.lag_1 == pytest.approx(r, abs=0.03)
    assert judged.inflation == pytest.approx((1 + r) / (1 - r), rel=0.15)
    assert judged.ljung_box_p < 1e-6
    assert 'factor' in warn_if_correlated([judged], ['elbow'])[0]
    assert 'elbow' in warn_if_correlated([judged], ['elbow'])[0]


def test_the_factor_is_the_ratio_of_true_to_claimed_scatter_of_a_mean():
    # 300 short series: the mean of each scatters `factor` times more than sigma / sqrt(N) says.
    r, N = 0.6, 400
    means = [autoregressive(r, N, seed).mean() for seed in range(300)]
    claimed = np.std(autoregressive(r, 20000)) / np.sqrt(N)
    factor = whiteness([autoregressive(r, 20000)]).factor
    assert np.std(means) / claimed == pytest.approx(factor, rel=0.15)


def test_correlation_does_not_cross_the_border_of_runs():
    # Each run is constant: inside a run the correlation is 1, across runs it would be -1.
    runs = [np.full(50, (-1.0) ** k) for k in range(20)]
    assert whiteness(runs).lag_1 == pytest.approx(1.0)


def test_a_zero_or_tiny_residual_is_no_cause_for_alarm():
    assert whiteness([np.zeros(100)]).factor == 1.0
    assert whiteness([np.array([1.0])]).factor == 1.0
