"""The sweep back through the regressor, held to differences of the regressor itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot

from robot_id import dynamics
from robot_id.robot import load_robot


def check(robot, seed, slope):
    rng = np.random.default_rng(seed)
    states = [rng.normal(size=(4, robot.n)) for _ in range(3)]
    G = rng.normal(size=(4, robot.n, len(robot.base)))

    def f(moved):
        W = dynamics.regressor(robot, *moved, coulomb_slope=slope)
        return np.einsum('nji,nji->n', W, G)

    slopes = dynamics.regressor_slopes(robot, *states, G, slope)
    h = 1e-5
    for a in range(3):
        for k in range(robot.n):
            step = np.zeros(robot.n)
            step[k] = h
            there, back = (
                f([x + s * step if i == a else x for i, x in enumerate(states)]) for s in (1, -1)
            )
            scale = 1.0 + np.abs(slopes[a]).max()
            np.testing.assert_allclose(
                slopes[a][:, k], (there - back) / (2.0 * h), atol=1e-6 * scale
            )


@pytest.mark.parametrize('slope', [None, 3.0])
@pytest.mark.parametrize('name', ['emps', 'emps_asymmetric', 'scara', 'tx40'])
def test_shipped_robots(name, slope):
    check(load_robot(name), 0, slope)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_random_trees_with_slides_and_all_frictions(seed, n):
    robot, _ = random_robot(np.random.default_rng(seed), n)
    if len(robot.base):
        check(robot, seed, 2.0)
