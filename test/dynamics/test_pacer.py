"""Real time is kept sample by sample, however the timer trembles."""

import numpy as np
import pytest

from robot_id.dynamics.simulation.pacer import MOST_BEHIND_S, Pacer


class Clock:
    """A clock that the test moves."""

    def __init__(self):
        self.now = 1e4

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.mark.parametrize('phase', [-0.2, 0.0, 0.2])
def test_a_timer_that_trembles_gets_one_sample_each_time(clock, phase):
    rate = 1000.0
    pacer = Pacer(rate, clock)
    start, jitter = clock.now, np.random.default_rng(0).uniform(-0.25, 0.25, 5000)
    for k, early in enumerate(jitter, 1):
        clock.now = start + (k + phase + early) / rate
        assert pacer.due() == 1
    assert pacer.slips == 0


def test_what_was_missed_is_made_up_and_the_mean_rate_is_kept(clock):
    pacer = Pacer(500.0, clock)
    start = clock.now
    counts = []
    for at in (1.0, 2.0, 6.2, 7.0, 7.2, 8.0, 9.0):
        clock.now = start + at / 500.0
        counts.append(pacer.due())
    assert counts == [1, 1, 4, 1, 0, 1, 1]


def test_after_a_long_stall_time_is_let_go_and_the_next_ticks_are_regular(clock):
    pacer = Pacer(1000.0, clock)
    clock.now += 2.0 * MOST_BEHIND_S
    assert (pacer.due(), pacer.slips) == (1, 1)
    start = clock.now
    for k in range(1, 50):
        clock.now = start + k / 1000.0 + (-1) ** k * 1e-4
        assert pacer.due() == 1
