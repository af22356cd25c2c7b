"""Friction that did not change between recordings is shared, friction that did is not."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id.tasks.payload.drift import with_drift
from robot_id.tasks.payload.solution import inflation_between_joints, solve

JOINTS, ROWS = 6, 400
FRICTION = np.array([10.0, 8.0, 5.0, 2.0, 2.0, 1.0])


def rows(rng):
    """
    Return the rows of two recordings: friction of each joint, its change, and one load.

    The load acts as an offset of the last joints, nearly as their friction does.
    """
    direction = np.where(rng.normal(size=(2, ROWS, JOINTS)) > 0.0, 1.0, -1.0)
    own = direction[:, :, :, None] * np.eye(JOINTS)
    load = 0.9 * direction[1, :, :, None] + 0.1 * rng.normal(size=(ROWS, JOINTS, 1))
    load[:, :4] = 0.0
    none = np.zeros_like(own[0])
    return [
        np.concatenate([own[0], none, np.zeros_like(load)], axis=2),
        np.concatenate([own[1], own[1], load], axis=2),
    ]


def weigh(seed, drift):
    """Return the error and the deviation of the load, with free changes and with learned ones."""
    rng = np.random.default_rng(seed)
    A = rows(rng)
    x = np.concatenate([FRICTION, FRICTION * drift * rng.normal(size=JOINTS), [2.0]])
    y = [a @ x + 0.5 * rng.normal(size=(ROWS, JOINTS)) for a in A]
    free = solve(A, y, 1)
    found = with_drift(free, A, (slice(JOINTS, 2 * JOINTS),), free.x[:JOINTS])
    return [(s.x[-1] - 2.0, np.sqrt(s.covariance[-1, -1])) for s in (free, found)]


@pytest.mark.parametrize(('drift', 'gain'), [(0.0, 0.5), (0.2, 1.05)])
def test_load_is_found_as_well_as_the_drift_allows(drift, gain):
    each = np.array([weigh(seed, drift) for seed in range(60)])
    free, found = np.sqrt(np.mean(each[:, :, 0] ** 2, axis=0))
    assert found < gain * free
    off = np.abs(each[:, 1, 0]) / each[:, 1, 1]
    # 57 of 60 are expected inside the interval; six changes tell of the drift, so tails are those
    # of Student's distribution.
    assert np.count_nonzero(off < 1.96) >= 54
    assert off.max() < 5.0


def test_few_groups_widen_the_interval_by_students_quantile():
    """The same pull counts for more where one joint says it than where six do."""

    def factor(joints):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(300, joints, 1))
        pull = np.where(np.arange(joints) % 2, 1.0, -1.0)
        residual = 0.3 * X[:, :, 0] * pull + 0.1 * rng.normal(size=(300, joints))
        residual = [residual, -residual]
        noise = np.mean(np.square(residual))
        white = noise / (2 * np.sum(X**2))
        said = inflation_between_joints([X, X], residual, np.ones((1, 1)), np.array([white]))
        pulls = np.array([X[:, j, 0] @ r[:, j] for r in residual for j in range(joints)])
        return said, np.sum(pulls**2) / (noise * 2 * np.sum(X**2))

    (few, plain_few), (many, plain_many) = factor(1), factor(6)
    assert few / plain_few > 1.5 * many / plain_many
    assert many / plain_many > 1.1
