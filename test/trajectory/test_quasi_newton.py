"""L-BFGS: the iterates are those of L-BFGS-B, and the change of coordinates is a solution."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from robot_id.excitation.descent import solve_joints
from robot_id.excitation.line_search import CURVATURE, DECREASE, line_search
from robot_id.excitation.quasi_newton import minimize


def rosenbrock(x):
    return float(scipy.optimize.rosen(x)), scipy.optimize.rosen_der(x)


def quartic(x):
    size = 10.0 ** np.linspace(0.0, 4.0, len(x))
    return float(size @ (x**4 + x**2)), size * (4.0 * x**3 + 2.0 * x)


def wavy(x):
    k = np.arange(1.0, len(x) + 1.0)
    square = 1.0 + k * (x - 1.0) ** 2
    value = np.sum(np.log(square)) + 0.1 * np.sum(np.sin(5.0 * x))
    return float(value), 2.0 * k * (x - 1.0) / square + 0.5 * np.cos(5.0 * x)


@pytest.mark.parametrize('memory', [3, 60])
@pytest.mark.parametrize('function', [rosenbrock, quartic, wavy])
@pytest.mark.parametrize('seed', range(3))
def test_the_iterates_are_those_of_l_bfgs_b(function, memory, seed) -> None:
    start = 2.0 * np.random.default_rng(seed).normal(size=12)
    counts, theirs, ours = [0, 0], [], []

    def counted(which):
        def call(x):
            counts[which] += 1
            return function(x)

        return call

    scipy.optimize.minimize(
        counted(0), start, jac=True, method='L-BFGS-B',
        callback=lambda x: theirs.append(x.copy()), options={'maxiter': 15, 'maxcor': memory},
    )  # fmt: skip
    minimize(counted(1), start, 15, memory, ours.append)
    assert len(ours) == len(theirs)
    assert counts[0] == counts[1] > len(ours)  # some lines take several trials
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize('function', [rosenbrock, quartic, wavy])
def test_it_ends_in_a_minimum(function) -> None:
    found = [np.random.default_rng(5).normal(size=8)]
    minimize(function, found[0], 10_000, 10, found.append)
    assert len(found) < 1000
    value, slope = function(found[-1])
    size = np.abs(function(found[0])[1]).max()
    assert np.abs(slope).max() < 1e-4 * size
    values = [function(x)[0] for x in found]
    assert np.all(np.diff(values) <= 0.0)
    assert value == min(values)


def test_a_function_without_a_number_ends_the_search_where_it_has_one() -> None:
    def cliff(x):
        return (float('nan'), np.full(2, np.nan)) if x[0] < 0.9 else (float(x @ x), 2.0 * x)

    found = []
    minimize(cliff, np.array([1.0, 0.0]), 100, 10, found.append)
    assert all(np.isfinite(cliff(x)[0]) for x in found)


@pytest.mark.parametrize('first', [1e-3, 0.1, 1.0, 30.0, 1e4])
def test_the_last_step_that_is_tried_is_good_enough(first) -> None:
    calls = []

    def line(step):
        calls.append(step)
        return -step / (step**2 + 2.0), (step**2 - 2.0) / (step**2 + 2.0) ** 2

    f, slope = line(0.0)
    assert line_search(line, f, slope, first)
    value, there = line(calls[-1])
    assert calls[1] == first
    assert value <= f + DECREASE * calls[-2] * slope
    assert abs(there) <= -CURVATURE * slope


@pytest.mark.parametrize('transposed', [False, True])
def test_the_coordinates_of_all_joints_are_solved_for(transposed) -> None:
    rng = np.random.default_rng(0)
    C = np.triu(rng.normal(size=(4, 9, 9))) + 5.0 * np.eye(9)
    x = rng.normal(size=(4, 9))
    y = x.copy()
    solve_joints(C, y, transposed)
    back = np.einsum('jqp,jq->jp' if transposed else 'jpq,jq->jp', C, y)
    np.testing.assert_allclose(back, x, atol=1e-12)
