"""The library works with one BLAS thread and gives the others back."""

from __future__ import annotations

import threading

import pytest

from robot_id.blas_threads import one_blas_thread
from robot_id.methods import registry
from robot_id.robot import load_robot
from robot_id.tasks.checks import check
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.recording import record
from robot_id.trajectory.random import random_trajectory

threadpoolctl = pytest.importorskip('threadpoolctl')


def blas_threads() -> set[int]:
    found = {x['num_threads'] for x in threadpoolctl.threadpool_info() if x['user_api'] == 'blas'}
    assert found
    return found


@pytest.fixture
def two_threads():
    with threadpoolctl.threadpool_limits(2, user_api='blas'):
        assert blas_threads() == {2}
        yield
        assert blas_threads() == {2}, 'not given back'


def test_the_last_one_out_gives_them_back(two_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_gives_them_back(two_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_a_call_beside_another_leaves_the_limit_to_it(two_threads):
    seen = []

    def work() -> None:
        with one_blas_thread():
            seen.append(blas_threads())

    other = threading.Thread(target=work)
    with one_blas_thread():
        other.start()
        other.join()
        assert blas_threads() == {1}
    assert seen == [{1}]


def test_every_way_in_limits_them(two_threads):
    scara = load_robot('scara')
    with one_blas_thread():
        recording = record(scara, random_trajectory(scara.limits, 4.0), seed=1)
    seen: list[set[int]] = []

    def progress(_fraction: float, _text: str = '') -> None:
        seen.append(blas_threads())

    ways = {
        'identify': lambda: identify(Request(scara, recording), progress),
        'check': lambda: check(scara, recording, progress),
        **{
            name: lambda name=name: registry.create(name).estimate(scara, recording, progress)
            for name in ('idim_wls', 'didim', 'ekf', 'rls')
        },
    }
    for name, way in ways.items():
        way()
        assert seen, name
        assert all(number == {1} for number in seen), name
        assert blas_threads() == {2}, name
        seen.clear()
