"""The Butterworth filters against scipy.signal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

from robot_id.data.signals.filters import (
    butterworth,
    forward,
    settling,
    steady_state,
    without_line,
    zero_phase,
)

RATE = 1000.0


@pytest.mark.parametrize('order', [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize('cutoff', [5.0, 50.0, 300.0])
def test_sections_settling_and_both_passes_are_those_of_scipy(order, cutoff):
    sos = scipy.signal.butter(order, cutoff, fs=RATE, output='sos')
    sections = butterworth(order, cutoff, RATE)
    at = np.geomspace(0.1, 499.0, 60)
    ours, theirs = (scipy.signal.sosfreqz(s, at, fs=RATE)[1] for s in (sections, sos))
    np.testing.assert_allclose(ours, theirs, atol=1e-11)
    np.testing.assert_allclose(
        steady_state(sections), scipy.signal.sosfilt_zi(sections), rtol=1e-9, atol=1e-9
    )
    _, poles, _ = scipy.signal.butter(order, cutoff, fs=RATE, output='zpk')
    assert np.abs(poles).max() ** settling(order, cutoff, RATE, 1e-6) <= 1e-6 * (1 + 1e-9)
    assert np.abs(poles).max() ** (settling(order, cutoff, RATE, 1e-6) - 1) > 1e-6

    x = np.cumsum(np.random.default_rng(0).normal(size=(2000, 2, 2)), axis=0)
    pad = min(settling(order, cutoff, RATE), len(x) - 1)
    both = scipy.signal.sosfiltfilt(sos, x, axis=0, padtype='odd', padlen=pad)
    np.testing.assert_allclose(zero_phase(x, order, cutoff, RATE), both, atol=1e-9)
    zi = scipy.signal.sosfilt_zi(sos)[:, :, None, None] * x[0]
    once = scipy.signal.sosfilt(sos, x, axis=0, zi=zi)[0]
    np.testing.assert_allclose(forward(x, order, cutoff, RATE), once, atol=1e-9)


def test_the_shortest_runs_and_the_input_stay_as_they_are():
    for samples in (1, 2, 3):
        x = np.ones((samples, 2))
        np.testing.assert_allclose(zero_phase(x, 2, 5.0, RATE), 1.0)
    x = np.random.default_rng(0).normal(size=(50, 2))
    before = x.copy()
    zero_phase(x, 4, 5.0, RATE)
    forward(x, 4, 5.0, RATE)
    np.testing.assert_array_equal(x, before)


def test_a_line_is_taken_away_as_by_scipy():
    x = np.cumsum(np.random.default_rng(0).normal(size=(101, 3)), axis=0)
    np.testing.assert_allclose(without_line(x), scipy.signal.detrend(x, axis=0), atol=1e-12)
    np.testing.assert_allclose(without_line(x[:, 0]), scipy.signal.detrend(x[:, 0]), atol=1e-12)
    np.testing.assert_array_equal(without_line(x[:1]), np.zeros((1, 3)))
