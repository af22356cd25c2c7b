"""The jackknife of a recursive estimator is that of leaving out each block of rows."""

import itertools

import numpy as np
from scipy import stats

from robot_id.methods.recursive import block_jackknife
from robot_id.methods.recursive.block_jackknife import (
    BLOCKS,
    LONGER,
    BlockJackknife,
    information_of,
)


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
    found = blocks.covariance(np.zeros(4))
    expected = left_out(W, y, ends)
    longer = left_out(W, y, ends[::LONGER])
    ratio = np.diag(longer) / np.diag(expected)
    grown = np.maximum(0.5 * (1.0 + ratio), np.median(ratio))
    wider = (stats.t.ppf(0.975, BLOCKS - 1) / 1.959964) ** 2
    variances = np.diag(expected) * grown * wider
    np.testing.assert_allclose(np.diag(found), variances, rtol=1e-7)
    correlation = found / np.sqrt(np.outer(np.diag(found), np.diag(found)))
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(correlation, expected / np.outer(size, size), atol=1e-7)


def left_out(W, y, ends):
    """Return the covariance by solving again without each block."""
    whole, count, total = solved(W, y), len(ends) - 1, np.zeros((4, 4))
    for a, e in itertools.pairwise(ends):
        kept = np.r_[0:a, e : len(y)]
        moved = solved(W[kept], y[kept]) - whole
        total += np.outer(moved, moved)
    return total * (count - 1) / count


def test_with_instruments_it_equals_leaving_out_each_block():
    W, y = rows(1)
    Z = W + 0.3 * np.random.default_rng(2).normal(size=W.shape) * np.abs(W).mean(axis=0)
    blocks, ends = BlockJackknife(len(y)), [0]
    blocks.add(0, np.zeros(4), np.zeros((4, 4)))
    for end in range(1, len(y) + 1):
        if blocks.due(end):
            J = Z[:end].T @ W[:end]
            blocks.add(end, np.linalg.solve(J, Z[:end].T @ y[:end]), J)
            ends.append(end)
    whole = np.linalg.solve(Z.T @ W, Z.T @ y)
    moved = []
    for a, e in itertools.pairwise(ends):
        k = np.r_[0:a, e : len(y)]
        moved.append(np.linalg.solve(Z[k].T @ W[k], Z[k].T @ y[k]) - whole)
    axes = block_jackknife._axes(Z.T @ W)
    expected = np.array(moved).T @ np.array(moved) * (BLOCKS - 1) / BLOCKS
    np.testing.assert_allclose(blocks._spread(range(len(ends)), axes), expected, rtol=1e-7)


def test_lasting_errors_widen_it():
    """Errors that last longer than a block: the classical deviation is far too small."""
    rng = np.random.default_rng(3)
    errors, classical, stated = [], 0.0, []
    for _ in range(60):
        W = np.ones((900, 1))
        y = np.repeat(rng.normal(size=30), 30)[:, None].ravel()
        blocks = BlockJackknife(900)
        blocks.add(0, np.zeros(1), np.zeros((1, 1)))
        for end in range(1, 901):
            if blocks.due(end):
                blocks.add(end, np.array([y[:end].mean()]), np.array([[float(end)]]))
        errors.append(y.mean())
        stated.append(float(np.sqrt(blocks.covariance(np.zeros(1))[0, 0])))
        classical = 1.0 / np.sqrt(len(W))
    scatter = np.sqrt(np.mean(np.square(errors)))
    assert classical < 0.3 * scatter
    assert 0.8 * scatter < np.median(stated) < 1.8 * scatter


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
