"""The jackknife of a recursive estimator is that of leaving out each block of rows."""

import itertools

import numpy as np

from robot_id.estimation.block_jackknife import BLOCKS, BlockJackknife, information_of


def rows(seed, count=600, b=4):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(count, b)) * [1.0, 10.0, 0.1, 3.0]
    return W, W @ [1.0, -2.0, 30.0, 0.5] + rng.normal(size=count)


def solved(W, y):
    return np.linalg.lstsq(W, y, rcond=None)[0]


def test_it_equals_leaving_out_each_block():
    W, y = rows(0)
    blocks = BlockJackknife(len(y))
    tiny = 1e-12 * np.eye(4)
    blocks.add(0, np.zeros(4), tiny)
    ends = [0]
    for end in range(1, len(y) + 1):
        if blocks.due(end):
            J = W[:end].T @ W[:end] + tiny
            blocks.add(end, np.linalg.solve(J, W[:end].T @ y[:end]), J)
            ends.append(end)
    assert len(ends) == BLOCKS + 1
    whole, count = solved(W, y), len(ends) - 1
    left_out = []
    for a, e in itertools.pairwise(ends):
        kept = np.r_[0:a, e : len(y)]
        left_out.append(solved(W[kept], y[kept]) - whole)
    expected = sum(np.outer(d, d) for d in left_out) * (count - 1) / count
    found = blocks.covariance(np.zeros(4))
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    # White noise of deviation 1: not far from the classical covariance.
    classical = np.sqrt(np.diag(np.linalg.inv(W.T @ W)))
    assert np.all(np.abs(np.log(np.sqrt(np.diag(found)) / classical)) < np.log(1.6))


def test_a_start_that_nothing_moves_keeps_its_deviation():
    blocks = BlockJackknife(100)
    for end in range(0, 101, blocks.every):
        blocks.add(end, np.ones(3), np.diag([4.0, 1.0, 9.0]))
    found = blocks.covariance(np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(found, np.diag([0.01, 0.04, 0.09]), atol=1e-15)


def test_three_blocks_are_needed():
    blocks = BlockJackknife(2)
    for end in range(3):
        blocks.add(end, np.ones(2), np.eye(2))
    assert blocks.covariance(np.ones(2)) is None


def test_information_inverts_a_badly_scaled_covariance():
    root = np.tril(np.random.default_rng(1).normal(size=(5, 5))) + 2.0 * np.eye(5)
    size = np.array([1e-4, 1.0, 1e3, 1e-2, 10.0])
    P = (root @ root.T) * size * size[:, None]
    np.testing.assert_allclose(information_of(P) @ P, np.eye(5), atol=1e-6)
