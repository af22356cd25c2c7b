"""Bases of reversals that are shared are those that would be computed anew."""

import numpy as np
import pytest

from robot_id.data.dataset import Run
from robot_id.data.signals.processing import Processing
from robot_id.regression.rows import reversals
from robot_id.regression.rows.reversals import SharedReversals, response_bases, reversal_times

PROCESSING = Processing(decimation=8, cutoff_hz=20.0)


@pytest.fixture
def run() -> Run:
    t = np.arange(0.0, 12.0, 0.005)
    q = np.column_stack([np.sin(3.0 * t), np.cos(2.0 * t)])
    return Run(t, q, np.zeros_like(q))


def assert_equal(found, expected) -> None:
    assert len(found) == len(expected) > 0
    for (piece, Q), (its_piece, its_Q) in zip(found, expected):
        assert piece == its_piece
        np.testing.assert_array_equal(Q, its_Q)


@pytest.mark.parametrize('slope', [None, 1000.0])
def test_shared_bases_are_those_of_the_rows_at_hand(run, slope):
    shared, rows = SharedReversals(slope), run.time[::8]
    turns = reversal_times(run, PROCESSING, slope)
    # The second joint has other rows the third time: a rest band that noise has moved.
    for own in (rows, rows, rows[:-7]):
        for j in (0, 1):
            anew = response_bases(own, turns[j], PROCESSING, run.step, slope is not None)
            assert_equal(shared.bases(0, run, j, own, PROCESSING), anew)


def test_equal_rows_share_one_basis_and_memory_is_bounded(run, monkeypatch):
    rows = run.time[::8]
    shared = SharedReversals(None)
    first = shared.bases(0, run, 0, rows, PROCESSING)
    assert shared.bases(0, run, 0, rows.copy(), PROCESSING) is first
    monkeypatch.setattr(reversals, 'LARGEST_MB', 1e-3)
    small = SharedReversals(None)
    once, twice = (small.bases(0, run, 0, rows, PROCESSING) for _ in range(2))
    assert once is not twice
    assert_equal(once, twice)
