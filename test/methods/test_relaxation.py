"""Steps that only go back and forth are shortened, all others are left alone."""

import numpy as np
import pytest

from robot_id.methods.closed_loop.steps import Relaxation

COVARIANCE = np.diag([1.0, 1e-6])


def iterate(proposal, start, steps):
    relaxation, x = Relaxation(), np.array(start)
    for _ in range(steps):
        x = relaxation.shortened(x, proposal(x), COVARIANCE)
    return x, relaxation.share


@pytest.mark.parametrize('slope', [-1.0, -1.5, -0.9])
def test_an_iteration_that_goes_back_and_forth_finds_the_point_between(slope):
    fixed = np.array([2.0, 3e-3])
    x, share = iterate(lambda x: fixed + slope * (x - fixed), [5.0, 1e-3], 30)
    np.testing.assert_allclose(x, fixed, rtol=1e-6)
    assert share < 1.0


@pytest.mark.parametrize('slope', [0.7, 0.0, -0.3])
def test_an_iteration_that_converges_keeps_its_steps(slope):
    fixed = np.array([2.0, 3e-3])
    x, share = iterate(lambda x: fixed + slope * (x - fixed), [5.0, 1e-3], 8)
    np.testing.assert_allclose(x - fixed, slope**8 * (np.array([5.0, 1e-3]) - fixed), atol=1e-12)
    assert share == 1.0
