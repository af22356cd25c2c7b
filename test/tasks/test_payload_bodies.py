"""The nearest consistent body is the nearest one, and its deviations are those of its scatter."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id.regression.consistency.pseudo_inertia import inertial_row
from robot_id.robot import Payload
from robot_id.tasks.drive_gains import _of_a_body
from robot_id.tasks.payload.consistency import is_consistent, nearest_consistent
from robot_id.tasks.payload.result import (
    about_centre,
    consistent_draws,
    jacobian_about_centre,
    scatter,
)

ALL = np.ones(10, dtype=bool)
SMALL = Payload(2.0, (0.05, -0.03, 0.08), (0.001, 0.0, 0.0, 0.001, 0.0, 0.001))


def covariance(rng, mass=0.01, inertia=0.02):
    """Return a full covariance with these deviations of the mass and of the inertia."""
    C = (root := rng.normal(size=(10, 10))) @ root.T
    size = np.array([inertia] * 6 + [0.004] * 3 + [mass]) / np.sqrt(np.diag(C))
    return C * np.outer(size, size)


def bodies(rng, count):
    """Return (count, 10) physically consistent bodies of all sizes."""
    moments = rng.normal(size=(count, 4, 12))
    size = 10 ** rng.uniform(-3, 1, (count, 1, 1))
    return inertial_row(size * moments @ np.swapaxes(moments, 1, 2))


@pytest.mark.parametrize('mass', [0.01, 2e-6])
@pytest.mark.parametrize('seed', range(4))
def test_no_possible_body_is_nearer(seed, mass):
    rng = np.random.default_rng(seed)
    C = covariance(rng, mass)
    p = SMALL.parameters() + np.linalg.cholesky(C) @ rng.normal(size=10)
    x = nearest_consistent(p, C, ALL)
    assert is_consistent(x)
    # The set is convex: from x no physically consistent body lies on the side of p.
    towards = np.linalg.solve(C, p - x)
    sides = (bodies(rng, 2000) - x) @ towards
    assert sides.max() <= 1e-5 * np.abs(sides).max()
    assert (x - SMALL.parameters()) @ towards >= -1e-5


def test_gains_move_no_farther_than_their_load():
    """A load that must move by d deviations moves a gain by at most d deviations of its own."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(13, 13)) * np.array([0.02] * 6 + [0.004] * 3 + [0.01] * 4)[:, None]
        C = root @ root.T
        p = SMALL.parameters()[:9] + np.linalg.cholesky(C[:9, :9]) @ rng.normal(size=9)
        k = np.ones(4)
        moved = _of_a_body(p, k, C, np.ones(13, dtype=bool), SMALL.mass)
        # The true load is possible, so the nearest is no farther than it.
        off = p - SMALL.parameters()[:9]
        far = np.sqrt(off @ np.linalg.solve(C[:9, :9], off))
        assert np.all(np.abs(moved - k) <= 1.001 * far * np.sqrt(np.diag(C)[9:]))


def linear_deviations(body, C):
    J = jacobian_about_centre(body)
    return np.sqrt(np.diag(J @ C @ J.T))


def test_body_far_from_any_limit_has_the_deviations_of_the_fit():
    body = Payload(2.0, (0.0, 0.0, 0.1), (0.02, 0.0, 0.0, 0.02, 0.0, 0.02)).parameters()
    C = np.diag(np.array([1e-4] * 6 + [1e-4] * 3 + [1e-3]) ** 2)
    linear = linear_deviations(body, C)
    assert consistent_draws(body, C, ALL) is None
    assert np.array_equal(scatter(body, None, linear, about_centre), linear)


def test_deviations_are_those_of_the_bodies_that_repeated_fits_give():
    C = np.diag(np.array([0.004] * 6 + [0.002] * 3 + [0.01]) ** 2)
    rng = np.random.default_rng(7)
    true = SMALL.parameters()
    fits = true + rng.normal(size=(300, 10)) @ np.linalg.cholesky(C).T
    off = [about_centre(nearest_consistent(p, C, ALL)) - about_centre(true) for p in fits]
    observed = np.sqrt(np.mean(np.square(off), axis=0))
    linear = linear_deviations(true, C)
    told = scatter(true, consistent_draws(true, C, ALL), linear, about_centre)
    np.testing.assert_allclose(told, observed, rtol=0.2)
    # What must be positive scatters clearly less than the fit.
    assert np.all(observed[[4, 7, 9]] < 0.85 * linear[[4, 7, 9]])


@pytest.mark.parametrize('mass', [0.5, 3.0])
@pytest.mark.parametrize('size', [1e-5, 1e-3])
def test_a_point_mass_on_a_planar_arm_has_deviations(mass, size):
    """A motion in a plane leaves six parameters open, and the load lies at the border."""
    centre = np.array([0.05, 0.02, 0.0])
    p = Payload(mass, tuple(centre), (1e-12, 0.0, 0.0, 1e-12, 0.0, 1e-12)).parameters()
    known = np.isin(np.arange(10), (5, 6, 7, 9))
    rng = np.random.default_rng(0)
    root = size * rng.normal(size=(4, 4)) * np.array([0.2, 0.5, 0.5, 10.0])[:, None]
    C = np.zeros((10, 10))
    C[np.ix_(known, known)] = root @ root.T
    draws = consistent_draws(p, C, known)
    assert all(map(is_consistent, draws))
    linear = np.sqrt(np.diag(C))[known]
    assert np.all(np.std(draws[:, known], axis=0) <= 1.2 * linear)
