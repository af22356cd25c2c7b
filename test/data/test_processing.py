"""Options, their derived values, and derivatives against closed forms."""

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.data import Processing, Run, differentiate, resolve
from robot_id.data.signals.filters import settling
from robot_id.data.signals.processing import dropped, usable
from robot_id.exceptions import DataError, OptionError


def sine(rate=1000.0, duration=10.0, frequency=1.0, amplitude=0.5):
    t = np.arange(int(rate * duration)) / rate
    w = 2 * np.pi * frequency
    q = amplitude * np.sin(w * t)
    exact = q, amplitude * w * np.cos(w * t), -amplitude * w**2 * np.sin(w * t)
    return Run(t, q[:, None], np.zeros((t.size, 1))), exact


@pytest.mark.parametrize('kind', ['butterworth', 'none'])
def test_derivatives_of_a_sine_have_no_phase_shift(kind):
    run, exact = sine()
    found = differentiate(run, Processing(filter=kind, cutoff_hz=50))
    for ours, truth in zip(found, exact):
        assert np.abs(ours[200:-200, 0] - truth[200:-200]).max() < 1e-4 * np.abs(truth).max()


def test_forward_filter_delays_as_a_causal_filter_does():
    run, (q, _, _) = sine(frequency=2.0)
    late = differentiate(run, Processing(filter='forward', cutoff_hz=20))[0][:, 0]
    lags = np.arange(60)
    fit = [np.abs(late[2000 + lag : 8000 + lag] - q[2000:8000]).max() for lag in lags]
    # Group delay of a Butterworth filter of order 4 at low frequency: 2.613 / (2 pi f_c).
    assert abs(int(np.argmin(fit)) - 1000 * 2.613 / (2 * np.pi * 20)) <= 1.5


def test_zero_phase_keeps_a_straight_line_to_the_ends():
    t = np.arange(500) / 100
    run = Run(t, np.stack([1 + 2 * t, -t], axis=1), np.zeros((500, 2)))
    q, dq, ddq = differentiate(run, Processing(cutoff_hz=5))
    assert np.allclose(q, run.position, atol=1e-9)
    assert np.allclose(dq, [2, -1], atol=1e-7)
    assert np.allclose(ddq, 0, atol=1e-5)


@pytest.mark.parametrize('kind', ['butterworth', 'forward', 'none'])
def test_rows_are_those_of_the_whole_run(kind):
    rng = np.random.default_rng(3)
    t = np.arange(20_000) / 1000
    run = Run(t, np.cumsum(rng.normal(size=(t.size, 2)), axis=0) * 1e-3, np.zeros((t.size, 2)))
    options = Processing(filter=kind, cutoff_hz=20)
    whole = differentiate(run, options)
    for rows in ((0, 300), (300, 9000), (5000, 5001), (19_990, 20_000), (0, 20_000)):
        for part, all_ in zip(differentiate(run, options, rows), whole):
            scale = np.abs(all_).max()
            assert np.abs(part - all_[slice(*rows)]).max() < 1e-9 * scale


def test_settling_is_where_the_impulse_response_has_decayed():
    from robot_id.data.signals.filters import zero_phase

    x = np.zeros((4001, 1))
    x[2000] = 1.0
    response = np.abs(zero_phase(x, 4, 20.0, 1000.0))[:, 0]
    reach = settling(4, 20.0, 1000.0, 1e-3)
    assert response[2000 + 2 * reach :].max() < 1e-3 * response.max()
    assert response[2000 + reach // 4] > 1e-3 * response.max()


def test_defaults_come_from_the_loop_and_the_rate():
    options = resolve(Processing(), 200.0, [1.0, 10.0])
    assert options.cutoff_hz == pytest.approx(5 * 10 / (2 * np.pi))
    # 0.8 f / (2 n_d) is twice the bandwidth of 1.59 Hz.
    assert options.decimation == 25
    assert options.resolved
    assert resolve(options, 200.0) == options


def test_stiff_loops_and_unknown_ones():
    stiff = resolve(Processing(), 5000.0, 400.0)
    assert (stiff.cutoff_hz, stiff.decimation) == (50.0, 100)
    unknown = resolve(Processing(), 100.0)
    assert (unknown.cutoff_hz, unknown.decimation) == (10.0, 10)
    slow = resolve(Processing(), 20.0, 60.0)
    assert slow.cutoff_hz == 4.0
    assert slow.decimation == 1


def test_border_in_seconds_or_samples():
    assert resolve(Processing(border_s=0.25), 1000.0).border == 250
    assert resolve(Processing(border=49), 1000.0).border == 49
    assert resolve(Processing(filter='none'), 1000.0).border == 2
    with refused(OptionError, key='border'):
        resolve(Processing(border=3, border_s=1.0), 1000.0)


def test_describe_names_every_choice():
    options = resolve(Processing(rest_band=[0.1, 0.2], decimation=100), 1000.0, 60.0)
    text = '\n'.join(options.describe(1000.0))
    for part in ('Butterworth order 4', 'zero-phase', '10 x 10', 'cut-off 4 Hz', '0.1, 0.2'):
        assert part in text
    assert 'no filter' in '\n'.join(Processing(filter='none').describe())
    assert 'from the data' in '\n'.join(Processing().describe())


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'filter': 'buterworth'}, "did you mean 'butterworth'"),
        ({'decimation_filter': 'fir'}, 'decimation_filter'),
        ({'cutoff_hz': -1.0}, 'cutoff_hz must be a positive number'),
        ({'cutoff_hz': float('nan')}, 'cutoff_hz must be a positive number'),
        ({'order': 0}, 'order must be'),
        ({'decimation': 0}, 'decimation must be'),
        ({'border': -1}, 'border must be'),
        ({'border_s': -0.1}, 'border_s must be'),
        ({'rest_band': [-1.0]}, 'rest_band must be'),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        Processing(**options)


def test_cutoff_above_half_the_rate_is_refused():
    with refused(OptionError, key='cutoff_hz'):
        resolve(Processing(cutoff_hz=500), 1000.0)


def test_rest_band_per_joint():
    dq = np.array([[0.05, -0.5], [-0.2, 0.0]])
    assert dropped(dq, [0.1, 0.0]).tolist() == [[True, False], [False, False]]
    assert dropped(dq, 0.1).tolist() == [[True, False], [False, True]]
    assert not dropped(dq, None).any()
    with refused(OptionError, code='joint_count'):
        dropped(dq, [0.1, 0.1, 0.1])


def test_short_runs_are_refused_with_the_reason():
    run = sine(duration=0.1)[0]
    with refused(DataError, code='too_short'):
        usable(run, resolve(Processing(cutoff_hz=5), run.rate))
    with refused(DataError, code='too_short'):
        differentiate(run.rows(0, 3), Processing(filter='none'))
    with refused(OptionError, code='rows_outside'):
        differentiate(run, Processing(filter='none'), (50, 500))


@given(
    rate=st.floats(5.0, 1e4),
    bandwidth=st.one_of(st.none(), st.floats(0.1, 1e4)),
    kind=st.sampled_from(['butterworth', 'forward', 'none']),
)
@settings(max_examples=100)
def test_whatever_is_derived_is_usable(rate, bandwidth, kind):
    options = resolve(Processing(filter=kind), rate, bandwidth)
    assert options.resolved
    if kind != 'none':
        assert 0 < options.cutoff_hz < rate / 2
    assert options.decimation >= 1
    assert options.border >= 0
