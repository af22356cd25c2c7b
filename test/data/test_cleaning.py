"""Every kind of bad stamps and values: repaired and reported with its place, or refused."""

import numpy as np
import pytest
from errors import refused

from robot_id.data.cleaning.cleaning import Raw, clean
from robot_id.data.cleaning.resampling import interpolate
from robot_id.exceptions import DataError


def raw(time, **channels):
    q = np.stack([np.sin(time), np.cos(time)], axis=1)
    given = {'position': q, 'torque': 2 * q, **channels}
    return Raw('log.csv', np.asarray(time, float), given, ('shoulder', 'elbow'))


def grid(samples=1000, rate=100.0):
    return np.arange(samples) / rate


def test_clean_data_stay_as_they_are():
    source = raw(grid())
    runs, notes = clean(source)
    assert notes == []
    assert len(runs) == 1
    assert runs[0].position is not None
    assert np.array_equal(runs[0].position, source.channels['position'])
    assert runs[0].rate == pytest.approx(100.0)


def test_jitter_is_resampled_and_reported():
    rng = np.random.default_rng(0)
    time = grid() + rng.uniform(-2e-3, 2e-3, 1000)
    runs, notes = clean(raw(time))
    assert len(runs) == 1
    assert runs[0].rate == pytest.approx(100.0)
    assert np.allclose(runs[0].position[:, 0], np.sin(runs[0].time), atol=1e-7)
    assert np.allclose(np.diff(runs[0].time), 0.01)
    assert len(notes) == 1
    assert 'resampled to 100 Hz' in notes[0]


def test_rounded_stamps_are_the_grid():
    time = np.round(np.arange(5000) / 3000.0, 5)
    runs, notes = clean(raw(time))
    assert 'rounded stamps' in notes[0]
    assert len(runs[0]) == 5000
    assert np.allclose(np.diff(runs[0].time), 1 / 3000, rtol=1e-4)


def test_a_few_lost_samples_are_filled():
    time = np.delete(grid(), [500, 501, 700])
    runs, notes = clean(raw(time))
    assert len(runs) == 1
    assert len(runs[0]) == 1000
    assert np.allclose(runs[0].position[:, 1], np.cos(runs[0].time), atol=1e-6)
    assert any('2 short hole(s) filled' in note for note in notes)


def test_a_gap_splits_the_run():
    time = np.concatenate([grid(400), 10 + grid(300)])
    runs, notes = clean(raw(time))
    assert [len(run) for run in runs] == [400, 300]
    assert 'gap of 6.01 s before row 401 (t = 10 s)' in notes[0]


def test_scraps_between_gaps_are_left_out():
    time = np.concatenate([grid(400), 10 + grid(3), 20 + grid(300)])
    runs, notes = clean(raw(time))
    assert [len(run) for run in runs] == [400, 300]
    assert any('3 sample(s) between gaps at row 401' in note for note in notes)


def test_nan_and_inf_are_reported_with_row_time_and_joint():
    source = raw(grid())
    source.channels['torque'][123, 1] = np.nan
    source.channels['position'][500, 0] = np.inf
    runs, notes = clean(source)
    assert len(runs) == 1
    assert len(runs[0]) == 1000
    assert np.isfinite(runs[0].torque).all()
    assert "torque of joint 'elbow', row 124 (t = 1.23 s)" in notes[0]
    assert "position of joint 'shoulder', row 501 (t = 5 s)" in notes[0]
    assert '2 row(s)' in notes[0]


def test_nan_stamps_are_reported():
    time = grid()
    time[77] = np.nan
    runs, notes = clean(raw(time))
    assert 'time, row 78' in notes[0]
    assert np.isfinite(runs[0].time).all()


def test_mostly_nan_is_refused():
    source = raw(grid())
    source.channels['torque'][100:] = np.nan
    with refused(DataError, code='not_finite'):
        clean(source)


def test_identical_duplicates_are_dropped():
    time = np.insert(grid(), 300, grid()[300])
    runs, notes = clean(raw(time))
    assert len(runs[0]) == 1000
    assert '1 repeated sample(s) removed, first at row 302 (t = 3 s)' in notes[0]


def test_equal_stamps_with_different_values_are_refused():
    time = np.insert(grid(), 300, grid()[300])
    source = raw(time)
    source.channels['torque'][301, 0] += 1
    with refused(DataError, code='equal_stamps'):
        clean(source)


def test_reordered_messages_are_sorted():
    time = grid()
    time[[400, 401]] = time[[401, 400]]
    runs, notes = clean(raw(time))
    assert np.allclose(runs[0].position[:, 0], np.sin(grid()))
    assert '1 stamp(s) out of order were sorted, first at row 402' in notes[0]


def test_a_clock_set_back_is_refused():
    time = np.concatenate([grid(500), grid(500)])
    with refused(DataError, code='time_goes_back'):
        clean(raw(time))


def test_rows_keep_their_numbers_after_others_were_taken_out():
    time = np.concatenate([grid(400), 10 + grid(300)])
    source = raw(time)
    source.channels['torque'][5, 0] = np.nan
    _, notes = clean(source)
    assert any('before row 401 (t = 10 s)' in note for note in notes)


def test_too_few_samples_are_refused():
    with refused(DataError, code='too_short'):
        clean(raw(np.array([0.0])))


def test_a_wanted_rate_is_resampled_to():
    runs, notes = clean(raw(grid()), rate_hz=250.0)
    assert runs[0].rate == pytest.approx(250.0)
    assert np.allclose(runs[0].position[:, 0], np.sin(runs[0].time), atol=1e-7)
    assert 'resampled to 250 Hz' in notes[0]


def test_interpolation_is_exact_for_its_polynomials():
    rng = np.random.default_rng(5)
    time = np.sort(rng.uniform(0, 10, 200))
    at = np.linspace(time[0], time[-1], 333)
    cubic = (time**3 - 2 * time)[:, None]
    assert np.allclose(interpolate(time, cubic, at, cubic=True)[:, 0], at**3 - 2 * at, atol=1e-8)
    line = (3 * time + 1)[:, None]
    assert np.allclose(interpolate(time, line, at, cubic=False)[:, 0], 3 * at + 1)


def test_single_stamps_of_another_time_are_left_out_and_told():
    source = raw(grid(1000))
    # 1970, the last second of the message, and ten seconds ago.
    source.time[[200, 500, 800]] = -1.7e9, 4e8, source.time[800] - 10.0
    runs, notes = clean(source)
    assert '3 sample(s) with a stamp from another time are left out, first at row 201' in notes[0]
    assert len(runs) == 1
    assert np.allclose(runs[0].position[:, 0], np.sin(runs[0].time), atol=1e-6)


@pytest.mark.parametrize('largest', [2.7e150, 0.3])
def test_a_damaged_block_with_stamps_of_zero_is_left_out(largest):
    source = raw(time=3047.0 + np.arange(2000) / 100.0)
    source.time[1:10] = -0.12, 0.79, 0.0, largest, -0.03, 47.6, 0.0, 0.0, 0.0
    source.channels['position'][1:10] = np.random.default_rng(0).normal(size=(9, 1))
    runs, notes = clean(source)
    assert '10 sample(s) with a stamp from another time are left out' in notes[0]
    assert (len(runs), runs[0].time[0]) == (1, 3047.1)
