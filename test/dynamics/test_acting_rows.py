"""The entries of the regressor that act, eight samples at once or by the kernels."""

import numpy as np
import pytest
from random_robots import SHIPPED, random_robot

from robot_id import dynamics
from robot_id.dynamics.generated import compiler, library
from robot_id.dynamics.generated.lanes import LANES
from robot_id.robot import load_robot

MANY = library.ENOUGH_STATES
needs_compiler = pytest.mark.skipif(compiler.compiler() is None, reason='no C compiler')


def whole(acting, rows):
    """Return W (N, n, b) from its acting entries."""
    W = np.zeros((rows.shape[1], acting.robot.n * len(acting.robot.base)))
    W[:, acting.flat] = rows.T
    return W.reshape(rows.shape[1], acting.robot.n, -1)


def check(robot, samples, size=1.0):
    rng = np.random.default_rng(samples)
    acting = dynamics.ActingRows(robot, MANY)
    states = size * rng.normal(size=(3, robot.n, samples))
    each = [np.ascontiguousarray(x.T) for x in states]
    W = dynamics.regressor(robot, *each)  # by the kernels: few states
    scale = 1.0 + np.abs(W).max()
    np.testing.assert_allclose(whole(acting, acting(states)), W, rtol=0, atol=1e-12 * scale)
    G = rng.normal(size=(len(acting.flat), samples))
    made = acting.slopes(states, G)
    slopes = dynamics.regressor_slopes(robot, *each, whole(acting, G))
    for a, b in zip(made, slopes):
        np.testing.assert_allclose(a.T, b, rtol=0, atol=1e-11 * (1.0 + np.abs(b).max()))
    chi = rng.normal(size=len(robot.base))
    np.testing.assert_allclose(acting.torques(chi, acting(states)), (W @ chi).T, atol=1e-9 * scale)


# Fewer than the lanes, as many, a last block that overlaps, and whole blocks.
@pytest.mark.parametrize('samples', [1, LANES - 1, LANES, LANES + 3, 5 * LANES])
@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_robots(name, samples):
    robot = load_robot(name)
    check(robot, samples)
    if compiler.compiler() is not None:
        assert library.code_for(
            robot, 'acting_regressor', 0.0, entries=dynamics.ActingRows(robot).flat
        )


@pytest.mark.parametrize('seed', range(4))
def test_random_trees(seed, tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    robot, _ = random_robot(np.random.default_rng(seed), 2 + seed)
    check(robot, 21)


def test_any_memory_layout_of_the_states():
    robot = load_robot('scara')
    acting = dynamics.ActingRows(robot, MANY)
    states = np.random.default_rng(0).normal(size=(3, robot.n, 24))
    np.testing.assert_array_equal(acting(np.asfortranarray(states)), acting(states))
    G = np.random.default_rng(1).normal(size=(len(acting.flat), 24))
    other = acting.slopes(np.asfortranarray(states), np.asfortranarray(G))
    np.testing.assert_array_equal(other, acting.slopes(states, G))


@needs_compiler
def test_sines_of_large_angles_and_of_what_is_not_a_number(monkeypatch):
    robot = load_robot('tx40')
    acting = dynamics.ActingRows(robot, MANY)
    states = np.random.default_rng(2).normal(size=(3, robot.n, 32))
    states[0, :, :8] *= 1e4  # below and above where the series is used
    states[0, :, 8:16] *= 1e7
    states[0, 1, 16], states[0, 2, 17] = np.nan, np.inf
    with np.errstate(invalid='ignore'):
        made = acting(states)
        monkeypatch.setenv(library.SWITCH, '0')
        generic = acting(states)
    assert np.isnan(made[:, 16]).any()
    assert np.isnan(made[:, 17]).any()
    others = np.delete(np.arange(32), [16, 17])
    assert np.isfinite(made[:, others]).all()
    np.testing.assert_allclose(made[:, others], generic[:, others], atol=1e-11)
