"""Windows, what is passed on, and every reason for which an update is refused."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.control import Ilic
from robot_id.control.learning.window import MovingWindow, closes
from robot_id.dynamics import inertia_matrix, inverse_dynamics
from robot_id.exceptions import ControlError, OptionError
from robot_id.trajectory import emps_cycle


def samples(robot, chi, trajectory, rate=500.0, cycles=1):
    """Return a reference and the torque that a perfect robot needs on it."""
    t = np.arange(round(trajectory.duration * rate * cycles)) / rate
    q, dq, ddq = trajectory.sample(t)
    return q, dq, ddq, inverse_dynamics(robot, chi, q, dq, ddq, robot.description.coulomb_slope)


def ilic_of(robot, start, window_s, rate=500.0, **options):
    return Ilic(robot, start, rate, window_s, **options)


@settings(max_examples=50)
@given(
    st.integers(1, 40), st.integers(1, 40), st.lists(st.integers(1, 60), min_size=1, max_size=30)
)
def test_windows_hold_the_last_samples_whatever_the_blocks(length, every, blocks):
    window = MovingWindow(1, length, every)
    total = sum(blocks)
    rows = np.arange(total, dtype=float)[:, None] * np.ones(4)
    ends, at = [], 0
    for block in blocks:
        stop = at + block
        while at < stop:
            count = min(window.room(), stop - at)
            if window.add(rows[at : at + count]):
                taken = window.take()
                ends.append(taken.end)
                expected = np.arange(taken.end - length, taken.end)
                np.testing.assert_array_equal(taken.torque[:, 0], expected)
            at += count
    first = max(length, every)
    assert ends == list(range(first, total + 1, every))


def test_sample_by_sample_is_block_by_block(scara, fourier_cycle):
    data = samples(scara, scara.truth(), fourier_cycle(scara, 4.0), cycles=2)
    whole = ilic_of(scara, scara.a_priori(), 4.0).feed(*data)
    one = ilic_of(scara, scara.a_priori(), 4.0)
    single = []
    for row in zip(*data):
        if one.add(*row):
            single.append(one.identify(one.take()))
    assert len(whole) == len(single) == 2
    for a, b in zip(whole, single):
        assert a.time == b.time
        np.testing.assert_array_equal(a.parameters, b.parameters)


def test_exact_torques_give_the_exact_parameters(scara, fourier_cycle):
    """Filtering and decimation in parallel leave Y = W chi as it was."""
    (update,) = ilic_of(scara, scara.a_priori(), 4.0).feed(
        *samples(scara, scara.truth(), fourier_cycle(scara, 4.0))
    )
    assert update.accepted
    assert update.fit.passed.all()
    np.testing.assert_allclose(update.parameters, scara.truth(), rtol=1e-6)


def test_overlapping_windows(scara, fourier_cycle):
    ilic = ilic_of(scara, scara.a_priori(), 4.0, update_s=1.0)
    updates = ilic.feed(*samples(scara, scara.truth(), fourier_cycle(scara, 4.0), cycles=2))
    assert [u.time for u in updates] == [4.0, 5.0, 6.0, 7.0, 8.0]


def test_no_single_sample_weighs_much_where_a_window_does_not_close(scara, fourier_cycle):
    ilic = ilic_of(scara, scara.a_priori(), 3.1)
    q, dq, ddq, tau = samples(scara, scara.truth(), fourier_cycle(scara, 4.0))
    tau[0] += [2.0, 0.2]  # a torque spike at the very start of the window
    ilic.window.add(np.concatenate([q, dq, ddq, tau], axis=1)[:1550])
    window = ilic.take()
    assert not closes(window)
    update = ilic.identify(window)
    strong = [scara.base.index(name) for name in ('ZZ1R', 'ZZ2R', 'LMX2', 'Fc1', 'Fc2')]
    np.testing.assert_allclose(update.parameters[strong], scara.truth()[strong], rtol=1e-2)


def test_sigma_max_holds_what_is_badly_told(emps):
    """White torque noise: with more of it fewer parameters pass, those that stay do not move."""
    rng = np.random.default_rng(0)
    q, dq, ddq, tau = samples(emps, emps.truth(), emps_cycle())
    start = np.array([90.0, 150.0, 10.0, 0.0])
    passed = []
    for noise in (1.0, 300.0, 3000.0):
        (u,) = ilic_of(emps, start, 6.2).feed(q, dq, ddq, tau + rng.normal(0, noise, tau.shape))
        held = ~u.fit.passed
        np.testing.assert_array_equal(u.parameters[held], start[held])
        assert np.all(u.fit.percent[u.fit.passed] <= 15.0)
        passed.append(int(u.fit.passed.sum()))
    assert passed == sorted(passed, reverse=True)
    assert passed[0] == 3
    assert passed[-1] < 3


def test_what_stays_counts_in_what_is_learned(emps):
    """Two opposite speeds tell the offset, not Fv from Fc: it is found with the friction held."""
    truth = emps.truth() + [0, 0, 0, 5.0]
    dq = np.where(np.arange(4000) % 1000 < 700, 0.05, -0.05)[:, None]
    q, ddq = np.cumsum(dq, axis=0) / 500.0, np.zeros((4000, 1))
    tau = inverse_dynamics(emps, truth, q, dq, ddq, 1000.0)
    (update,) = ilic_of(emps, emps.truth(), 8.0).feed(q, dq, ddq, tau)
    assert update.accepted
    np.testing.assert_array_equal(update.fit.passed, [False, False, False, True])
    np.testing.assert_allclose(update.parameters, truth, rtol=1e-9)


def test_a_cycle_may_begin_anywhere(scara, fourier_cycle):
    """The filter goes round: a window that starts later in the cycle tells the same."""
    q, dq, ddq, tau = samples(scara, scara.truth(), fourier_cycle(scara, 4.0))
    tau = tau + np.random.default_rng(0).normal(0, 0.1, tau.shape)
    found = []
    for turn in (0, 7):
        ilic = ilic_of(scara, scara.a_priori(), 4.0)
        shift = turn * ilic.decimation
        (update,) = ilic.feed(*(np.roll(x, shift, axis=0) for x in (q, dq, ddq, tau)))
        found.append(update)
    first, later = found
    np.testing.assert_array_equal(first.fit.passed, later.fit.passed)
    told = first.fit.passed
    apart = np.abs(first.parameters - later.parameters)[told] / first.fit.deviation[told]
    assert apart.max() < 0.2


def test_constant_speed_does_not_tell_friction_apart(emps):
    """Fv, Fc and the offset look the same at one speed: none of them may take it all."""
    t = np.arange(3000) / 500.0
    q, dq, ddq = 0.05 * t[:, None], np.full((3000, 1), 0.05), np.zeros((3000, 1))
    tau = inverse_dynamics(emps, emps.truth(), q, dq, ddq, 1000.0)
    (update,) = ilic_of(emps, emps.a_priori(), 6.0).feed(q, dq, ddq, tau)
    assert not update.accepted
    assert 'the window is not exciting' in update.reason
    np.testing.assert_array_equal(update.parameters, emps.a_priori())


def test_lost_definiteness_is_refused_with_the_place(scara, fourier_cycle):
    wrong = scara.truth()
    wrong[scara.base.index('ZZ2R')] = -0.05
    ilic = ilic_of(scara, scara.a_priori(), 4.0)
    (update,) = ilic.feed(*samples(scara, wrong, fourier_cycle(scara, 4.0)))
    assert not update.accepted
    assert 'M_hat is not positive definite at q = [' in update.reason
    np.testing.assert_array_equal(ilic.parameters, scara.a_priori())


def test_definiteness_counts_on_the_whole_cycle(scara, fourier_cycle):
    """M > 0 in some postures of the cycle, not in others: one bad place is enough."""
    wrong = scara.truth()
    # det M = (ZZ1R)(ZZ2R) - (LMX2 cos q2)^2 changes its sign along the cycle.
    wrong[scara.base.index('LMX2')] = 0.8 * np.sqrt(3.45 * 0.061)
    wrong[scara.base.index('ZZ1R')] = 2.0
    q = fourier_cycle(scara, 4.0).sample(np.linspace(0, 4, 200))[0]
    least = np.linalg.eigvalsh(inertia_matrix(scara, wrong, q))[:, 0]
    assert least.min() < 0 < least.max()
    (update,) = ilic_of(scara, scara.a_priori(), 4.0, smallest_inertia=0.0).feed(
        *samples(scara, wrong, fourier_cycle(scara, 4.0))
    )
    assert 'M_hat is not positive definite' in update.reason


def test_bounds(emps):
    data = samples(emps, emps.truth(), emps_cycle())
    (update,) = ilic_of(emps, emps.a_priori(), 6.2, bounds={'M1': (96.0, 120.0)}).feed(*data)
    assert update.reason == 'M1 = 95 leaves its bounds [96, 120]'
    negative = samples(emps, emps.truth() * [1, -1, 1, 1], emps_cycle())
    (update,) = ilic_of(emps, emps.a_priori(), 6.2).feed(*negative)
    assert update.reason == 'Fv1 = -200 leaves its bounds [0, inf]'


def test_torques_at_their_limit_teach_nothing(emps):
    q, dq, ddq, tau = samples(emps, emps.truth(), emps_cycle())
    (update,) = ilic_of(emps, emps.a_priori(), 6.2, torque_limit=100.0).feed(
        q, dq, ddq, np.clip(tau, -100.0, 100.0)
    )
    assert 'was at its limit' in update.reason


def test_cleared_window_starts_anew(emps):
    data = samples(emps, emps.truth(), emps_cycle())
    ilic = ilic_of(emps, emps.a_priori(), 6.2)
    assert ilic.feed(*(x[:2000] for x in data)) == []
    ilic.clear()
    assert ilic.feed(*(x[2000:] for x in data)) == []
    assert len(ilic.feed(*(x[:2000] for x in data))) == 1


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'sigma_max': 5.0}, 'sigma_max must be .* from 10 to 30, got 5'),
        ({'window_s': 0.0}, 'window_s must be a positive number'),
        ({'window_s': 0.5, 'equations_hz': 5.0}, 'make the window longer'),
        ({'equations_hz': -1.0}, 'equations_hz must be a positive number'),
        ({'bounds': {'M2': (0, 1)}}, "no parameter 'M2', did you mean 'M1'"),
        ({'bounds': {'M1': (2, 1)}}, 'lower 2 is not below upper 1'),
        ({'saturated_share': 2.0}, 'saturated_share'),
        ({'smallest_inertia': 1.0}, 'smallest_inertia'),
    ],
)
def test_options_are_checked(emps, options, message):
    with pytest.raises(OptionError, match=message):
        Ilic(emps, emps.a_priori(), 1000.0, **{'window_s': 6.2, **options})


def test_bad_samples_are_refused(emps):
    ilic = ilic_of(emps, emps.a_priori(), 6.2)
    with refused(ControlError, joint='carriage'):
        ilic.feed([0.0], [0.0], [0.0], [np.nan])
    with refused(ControlError, joint='carriage'):
        ilic.add([0.0], [np.inf], [0.0], [0.0])
    with refused(ControlError, code='shape'):
        ilic.feed(np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((2, 1)), np.zeros((3, 1)))
    assert ilic.window.seen == 0


class Gate:
    """Holds up an identification, as a slow machine does, until it is let go."""

    def __init__(self, observation):
        self._observation = observation
        self.entered, self.go = threading.Event(), threading.Event()

    def factors(self, window):
        self.entered.set()
        assert self.go.wait(20.0)
        return self._observation.factors(window)


def test_parameters_that_are_set_during_an_identification_stay(scara, fourier_cycle):
    data = samples(scara, scara.truth(), fourier_cycle(scara, 4.0))
    ilic = ilic_of(scara, scara.a_priori(), 4.0)
    ilic.window.add(np.concatenate(data, axis=1))
    window = ilic.take()
    gate = ilic._observation = Gate(ilic._observation)
    chosen = 0.9 * scara.truth()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(ilic.identify, window)
        assert gate.entered.wait(20.0)
        ilic.parameters = chosen
        gate.go.set()
        update = future.result()
    assert not update.accepted
    assert 'other parameters were set' in update.reason
    np.testing.assert_array_equal(update.parameters, chosen)
    np.testing.assert_array_equal(ilic.parameters, chosen)
    # The next window is learned from as always.
    assert ilic.identify(window).accepted
    np.testing.assert_allclose(ilic.parameters, scara.truth(), rtol=1e-4)


def test_an_update_that_waited_gives_way_to_parameters_set_since(scara, fourier_cycle):
    data = samples(scara, scara.truth(), fourier_cycle(scara, 4.0))
    ilic = ilic_of(scara, scara.a_priori(), 4.0)
    update = ilic.feed(*data)[0]
    assert ilic.confirmed(update) is update
    ilic.parameters = 0.9 * scara.truth()
    late = ilic.confirmed(update)
    assert not late.accepted
    np.testing.assert_array_equal(late.parameters, 0.9 * scara.truth())


def test_parameters_cannot_be_changed_in_place(scara):
    ilic = ilic_of(scara, scara.a_priori(), 4.0)
    with pytest.raises(ValueError, match='read-only'):
        ilic.parameters[0] = 1.0
    with refused(ControlError, code='parameter_count'):
        ilic.parameters = [1.0, 2.0, 3.0]
