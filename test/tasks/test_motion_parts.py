"""Parts of a recording that are new to each other, of every file and every joint."""

import numpy as np
import pytest

from robot_id.data.dataset import Dataset, Run
from robot_id.tasks.verdict.motion_parts import intervals, split_motion

RATE = 200.0


def run_of(position, rate=RATE):
    """Return a run of positions alone."""
    return Run(np.arange(len(position)) / rate, position, np.ones_like(position))


def wandering(seconds, joints, seed):
    """Return (N, n) positions that never repeat."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    w, phase = rng.uniform(0.3, 3.0, (2, 5, joints))
    return np.sin(t[:, None, None] * w + 3.0 * phase).sum(axis=1)


def distances(parts, dataset, held):
    """Return for each held sample the distance to the nearest fitted one, in q and dq."""
    states = [np.c_[run.position, np.gradient(run.position, run.step, axis=0)] for run in dataset]
    kept = np.concatenate([s[labels == held][::7] for s, labels in zip(states, parts.labels)])
    rest = np.concatenate([s[labels != held][::3] for s, labels in zip(states, parts.labels)])
    span = np.ptp(np.concatenate(states), axis=0)
    return np.array([np.abs((rest - x) / span).max(axis=1).min() for x in kept])


@pytest.mark.parametrize('seconds', [3.0, 9.0, 60.0])
def test_every_file_and_every_joint_is_in_every_part(seconds):
    files = [run_of(wandering(seconds, 4, k)) for k in range(3)]
    parts = split_motion(Dataset(tuple('abcd'), tuple(files)), 5)
    assert not parts.repeated
    for part in range(5):
        assert all(
            np.mean(labels == part) == pytest.approx(0.2, abs=0.1) for labels in parts.labels
        )
    assert parts.unevenness.max() < 0.5


def test_joints_that_move_alone_are_in_what_is_kept_back():
    files = [run_of(wandering(12.0, 3, 0))]
    for j in range(3):
        alone = np.zeros((round(4 * RATE), 3))
        alone[:, j] = wandering(4.0, 1, j + 1)[:, 0]
        files.append(run_of(alone))
    parts = split_motion(Dataset(tuple('abc'), tuple(files)), 5)
    share = parts.shares[parts.most_even()]
    assert np.all(share > 0.1)
    assert np.all(share < 0.3)


@pytest.mark.parametrize('period_s', [2.0, 3.7, 6.3, 11.0])
def test_nothing_that_is_kept_back_was_fitted(period_s):
    t = np.arange(round(45 * RATE)) / RATE
    w = 2 * np.pi / period_s
    q = np.stack([np.sin(w * t) + 0.4 * np.cos(3 * w * t), np.cos(w * t) + np.sin(2 * w * t)], 1)
    dataset = Dataset(('a', 'b'), (run_of(q),))
    parts = split_motion(dataset, 5)
    assert not parts.repeated
    held = parts.most_even()
    assert 0.1 < np.mean(parts.labels[0] == held) < 0.35
    # Nearly all of it is as far from what is fitted as new motion is.
    assert np.mean(distances(parts, dataset, held) > 0.01) > 0.7


def test_a_motion_that_is_over_too_soon_leaves_nothing_new():
    t = np.arange(round(30 * RATE)) / RATE
    parts = split_motion(Dataset(('a',), (run_of(np.sin(2 * np.pi * t / 0.35)[:, None]),)), 5)
    assert parts.repeated
    assert parts.shares[parts.most_even(), -1] == pytest.approx(0.2, abs=0.05)


def test_the_same_motion_in_another_file_is_kept_back_too():
    q = wandering(20.0, 3, 5)
    dataset = Dataset(tuple('abc'), (run_of(q), run_of(q + 1e-4), run_of(q[:2500])))
    parts = split_motion(dataset, 5)
    held = parts.most_even()
    first, second, third = (labels == held for labels in parts.labels)
    # Boundaries are known to the distance of two windows that are compared.
    assert np.mean(first != second) < 0.1
    assert np.mean(first[:2500] != third) < 0.15


def test_slow_motion_is_no_repetition():
    q = np.linspace(0.0, 1.0, round(60 * RATE))[:, None]
    parts = split_motion(Dataset(('a',), (run_of(q),)), 5)
    assert not parts.repeated
    assert parts.unevenness.max() < 0.3


def test_intervals():
    flags = np.array([True, True, False, True, False, False, True])
    assert intervals(flags) == [(0, 2), (3, 4), (6, 7)]
    assert intervals(np.zeros(3, bool)) == []
