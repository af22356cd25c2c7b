"""Integrals that fade, and differences of higher order."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robot_id.methods.recursive.filters import Delay, Differences, Washout
from robot_id.methods.recursive.integral import fading_s

STEP = 0.05


@pytest.mark.parametrize('constant', [1e-6, 0.02, 1.0])
def test_washout_is_the_high_pass(constant):
    x = np.cumsum(np.random.default_rng(0).normal(size=(50, 3)), axis=0)
    kept = np.exp(-STEP / constant)
    washout = Washout(STEP, constant)
    for _ in range(2):
        found = np.array([washout(row) for row in x])
        np.testing.assert_allclose(found, lfilter([1, -1], [1, -kept], x, axis=0), atol=1e-12)
        washout.reset()


def equations(walk, white, seed=1, count=600):
    """Return [rows work] of an integral with errors that stay and errors that pass."""
    rng = np.random.default_rng(seed)
    W = np.cumsum(rng.normal(size=(count, 3)), axis=0)
    error = walk * np.cumsum(rng.normal(size=count)) + white * rng.normal(size=count)
    return np.column_stack([W, W @ [1.0, -2.0, 0.5] + error])


def test_the_errors_tell_how_integrals_fade():
    assert fading_s([equations(1.0, 0.0)], STEP) < 0.1 * STEP
    assert fading_s([equations(0.0, 1.0)], STEP) > 10 * STEP
    between = fading_s([equations(0.1, 1.0), equations(0.1, 1.0, seed=2)], STEP)
    assert 3 * STEP < between < 30 * STEP  # The gain of the steady Kalman filter is 0.095.


@pytest.mark.parametrize('reach', [1, 2, 3])
def test_differences_of_higher_order(reach):
    """Exact for polynomials up to twice the reach, in blocks as at once."""
    h = 0.1
    t = h * np.arange(20)
    powers = np.arange(2 * reach + 1)
    q = (t[:, None] ** powers) / (1.0 + powers)
    found = Differences(h, reach)(q)
    middle = t[reach:-reach, None]
    slope = powers * middle ** np.maximum(powers - 1, 0) / (1.0 + powers)
    bend = powers * (powers - 1) * middle ** np.maximum(powers - 2, 0) / (1.0 + powers)
    for value, exact in zip(found, (q[reach:-reach], slope, bend)):
        np.testing.assert_allclose(value, exact, atol=1e-9)
    blocks, late = Differences(h, reach), Delay(reach)
    parts = [(blocks(part), late.late('q', part)) for part in np.split(q, [1, 2, 9])]
    np.testing.assert_allclose(np.concatenate([p[0][2] for p in parts]), found[2], atol=1e-9)
    np.testing.assert_array_equal(np.concatenate([p[1] for p in parts]), found[0])
