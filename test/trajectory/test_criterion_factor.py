"""The factor of the weighted rows and the criteria on it: the same as by singular values."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.excitation.criteria import CRITERIA
from robot_id.excitation.criteria.criterion import by_singular_values
from robot_id.excitation.weighted_rows import WeightedRows
from robot_id.robot import load_robot


def drawn_factor(seed: int, p: int, span: float) -> np.ndarray:
    """Return R of a matrix whose condition number is about 10^span."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3 * p, p)) @ np.linalg.qr(rng.normal(size=(p, p)))[0]
    return np.linalg.qr(rows * 10.0 ** rng.uniform(-span, 0.0, p), mode='r')


@pytest.mark.parametrize('name', sorted(CRITERIA))
@pytest.mark.parametrize('power', [2.0, 5.0, 6.0, 16.0, 64.0, 128.0, 400.0])
@pytest.mark.parametrize(('p', 'span'), [(2, 0.0), (5, 1.0), (60, 3.0), (20, 6.0)])
def test_direct_forms_equal_those_by_singular_values(name, power, p, span) -> None:
    criterion, R = CRITERIA[name], drawn_factor(p, p, span)
    value, S = criterion.of_factor(R, power)
    expected, S_expected = by_singular_values(criterion.smooth, R, power)
    loss = 1e-13 * power * 10.0**span
    assert value == pytest.approx(expected, abs=1e-10 + loss)
    np.testing.assert_allclose(
        S, S_expected, rtol=0, atol=(1e-12 + 10.0 * loss) * np.abs(S_expected).max()
    )


@pytest.mark.parametrize('name', sorted(CRITERIA))
def test_a_motion_that_excites_nothing_is_bad_but_no_failure(name) -> None:
    R = np.triu(np.random.default_rng(0).normal(size=(6, 6)))
    usual, _ = CRITERIA[name].of_factor(R, 6.0)
    R[:, 3] = 0.0
    value, S = CRITERIA[name].of_factor(R, 6.0)
    assert value > usual + 3.0
    assert np.isfinite(S).all()
    with pytest.raises(np.linalg.LinAlgError):
        CRITERIA[name].of_factor(R + np.inf, 6.0)


@pytest.mark.parametrize('combined', [False, True])
@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_factor_and_slope_are_those_of_all_rows(name, combined) -> None:
    robot, rng = load_robot(name), np.random.default_rng(1)
    acting = dynamics.ActingRows(robot)
    N, n, b = 90, robot.n, len(robot.base)
    states = rng.normal(size=(3, n, N))
    W = dynamics.regressor(robot, *(np.ascontiguousarray(x.T) for x in states))
    columns = rng.normal(size=(b, b - 2)) * (rng.random((b, b - 2)) < 0.3) if combined else None
    g, w = rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, b - 2 if combined else b)
    mixed = W if columns is None else W @ columns
    Phi = (mixed * g[:, None] * w).reshape(N * n, -1)
    rows = WeightedRows(acting, g, w, columns)
    R = rows.factor(acting(states))
    np.testing.assert_array_equal(R, np.triu(R))
    exact = (Phi.T @ Phi)[np.ix_(rows.order, rows.order)]
    np.testing.assert_allclose(R.T @ R, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    S = rng.normal(size=R.shape)
    S = S + S.T
    back = np.argsort(rows.order)
    slope = (Phi @ S[np.ix_(back, back)] * w).reshape(N, n, -1) * g[:, None]
    slope = (slope if columns is None else slope @ columns.T).reshape(N, -1)
    made = rows.pull_back(acting(states), S)
    np.testing.assert_allclose(made.T, slope[:, acting.flat], atol=1e-10 * np.abs(slope).max())
