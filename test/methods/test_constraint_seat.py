"""The seat of a constraint: what it answers is the solution, after the usual checks."""

import numpy as np
from errors import refused

from robot_id.exceptions import IdentificationError
from robot_id.regression.solvers.least_squares import solve
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import JointFactors


class Through:
    """Solutions on which c' chi = 0, by substitution."""

    def __init__(self, c):
        self.basis = np.linalg.svd(c[None, :])[2][1:].T

    def solve(self, R, rows, names, kept):
        W = np.column_stack([R[:, :-1] @ self.basis, R[:, -1]])
        free = solve(W, rows, [f'z{k}' for k in range(self.basis.shape[1])])
        return type(free)(
            self.basis @ free.chi, self.basis @ free.covariance @ self.basis.T, kept,
            free.residual_norm, free.variance, free.condition_number, free.freedom,
        )  # fmt: skip


def test_system_asks_the_constraint():
    rng = np.random.default_rng(0)
    W, c = rng.normal(size=(200, 4)), rng.normal(size=4)
    Y = W @ rng.normal(size=4) + 0.1 * rng.normal(size=200)
    factors = JointFactors.of_rows('abcd', [(W[:80], Y[:80]), (W[80:], Y[80:])])
    weights = np.array([1.0, 3.0])
    chi = System(factors, constraint=Through(c)).solve(weights)[0].chi
    g = np.repeat(weights, (80, 120))
    # Stationary on the plane: the gradient is parallel to c.
    gradient = (W * g[:, None]).T @ (g * (Y - W @ chi))
    assert abs(c @ chi) < 1e-12
    assert np.linalg.norm(gradient - c * (c @ gradient) / (c @ c)) < 1e-9 * np.linalg.norm(Y)


def test_rank_is_checked_before_the_constraint():
    W = np.ones((10, 2))
    factors = JointFactors.of_rows('ab', [(W, W[:, 0])])
    with refused(IdentificationError, code='not_identifiable', value=('b',)):
        System(factors, constraint=Through(np.ones(2))).solve()
