"""The regressor in pieces and into memory of the caller; the warm-up of the kernels."""

import os
import subprocess
import sys

import numpy as np
import pytest
from random_robots import random_states

from robot_id import dynamics
from robot_id.robot import load_robot


@pytest.mark.parametrize('standard', [False, True])
@pytest.mark.parametrize('name', ['scara', 'tx40'])
def test_pieces_are_the_rows_of_the_whole(name, standard):
    robot = load_robot(name)
    states = random_states(np.random.default_rng(0), robot, 101)
    whole = dynamics.regressor(robot, *states, standard=standard)
    buffer = np.full((32, *whole.shape[1:]), np.nan)
    for first in range(0, 101, 32):
        piece = [x[first : first + 32] for x in states]
        out = buffer[: len(piece[0])]
        W = dynamics.regressor(robot, *piece, standard=standard, out=out)
        assert W is out
        np.testing.assert_array_equal(W, whole[first : first + 32])


def test_memory_of_the_wrong_shape_is_refused():
    robot = load_robot('scara')
    states = random_states(np.random.default_rng(0), robot, 5)
    for wrong in (np.empty((5, 2, 9)), np.empty((5, 2, 8), np.float32), np.empty((8, 2, 5)).T):
        with pytest.raises(ValueError, match='out is'):
            dynamics.regressor(robot, *states, out=wrong)


def test_states_need_not_be_contiguous():
    robot = load_robot('tx40')
    q, dq, ddq = random_states(np.random.default_rng(0), robot, 10)
    W = dynamics.regressor(robot, q, dq, ddq)
    sliced = [np.asfortranarray(x)[::2] for x in (q, dq, ddq)]
    np.testing.assert_array_equal(dynamics.regressor(robot, *sliced), W[::2])


def test_no_samples_give_no_rows():
    robot = load_robot('tx40')
    none = np.empty((0, 6))
    assert dynamics.regressor(robot, none, none, none).shape == (0, 6, 60)


def test_warm_up_reports_and_leaves_nothing_cold():
    texts = []
    dynamics.warm_up(
        'regressor', 'inertia_matrix', progress=lambda fraction, text='': texts.append(text)
    )
    assert texts == [
        'compiling kernels (once): regressor',
        'compiling kernels (once): inertia_matrix',
        'kernels are ready',
    ]
    assert dynamics.cold_kernels('regressor', 'inertia_matrix') == ()


def test_kernels_are_cold_without_their_cache(tmp_path):
    code = 'from robot_id import control, dynamics; print(*dynamics.cold_kernels())'
    found = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, 'NUMBA_CACHE_DIR': str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.split() == [
        'regressor', 'regressor_slopes', 'rows_at', 'slopes_at', 'inverse_dynamics',
        'inertia_matrix', 'direct_dynamics', 'simulate',
    ]  # fmt: skip
