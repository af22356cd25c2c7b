"""Processing derived from the data: options are independent, joints at rest are left out."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.data import Dataset, Processing, Run
from robot_id.data.signals.processing import rows_left
from robot_id.dynamics.acting_rows import acting_columns
from robot_id.exceptions import IdentificationError
from robot_id.methods import registry
from robot_id.regression.preprocessing.coarse import coarse
from robot_id.regression.preprocessing.options import (
    ROWS_PER_PARAMETER,
    resolve_options,
    rows_needed,
)
from robot_id.regression.preprocessing.rest_band import (
    enough,
    position_noise,
    resolution,
    resolve_rest_band,
    rows_of_joints,
)
from robot_id.regression.rows.observation import Observation


@pytest.fixture(scope='module')
def recording(scara, simulate):
    return simulate(scara, position=1e-4)


def test_a_derived_value_given_by_hand_changes_nothing(scara, recording):
    whole = registry.create('idim_wls').estimate(scara, recording)
    derived = {key: whole.options[key] for key in ('cutoff_hz', 'decimation', 'rest_band')}
    assert all(value is not None for value in derived.values())
    given = [{key: value} for key, value in derived.items()] + [derived]
    for options in given:
        again = registry.create('idim_wls', options).estimate(scara, recording)
        np.testing.assert_array_equal(again.values, whole.values)
        assert {key: again.options[key] for key in whole.options} == whole.options
    lines = ' '.join(whole.extras['processing'])
    for key in derived:
        assert f'{key} from the data' in lines


def test_noise_lowers_the_cutoff(scara, simulate):
    cutoffs = [
        resolve_options(
            Processing(), simulate(scara, position=noise), scara, None
        ).processing.cutoff_hz
        for noise in (0.0, 2e-3)
    ]
    assert cutoffs[1] < cutoffs[0]


def test_short_recordings_keep_three_rows_a_parameter(scara, recording):
    run = recording.runs[0]
    short = replace(recording, runs=(run.rows(0, round(4.0 * run.rate)),))
    found = resolve_options(Processing(), short, scara, None).processing
    needed = ROWS_PER_PARAMETER * max(map(len, acting_columns(scara)))
    assert rows_left(short, found) >= needed
    with pytest.raises(IdentificationError, match=r'equations are left for 8 parameters'):
        registry.create('idim_wls', {'decimation': 50, 'cutoff_hz': 20.0, 'border': 0}).estimate(
            scara, replace(short, runs=(run.rows(0, 50 * 10),))
        )


def test_rows_at_rest_are_not_counted(scara, recording):
    run = recording.runs[0]
    short = run.rows(0, round(4.0 * run.rate))
    rest = round(12.0 * run.rate)

    def held(x):
        return np.concatenate([x, np.repeat(x[-1:], rest, axis=0)])

    longer = Run(
        short.time[0] + short.step * np.arange(len(short) + rest),
        held(short.position),
        held(short.torque),
    )
    moving, resting = (
        resolve_options(
            Processing(), replace(recording, runs=(each,)), scara, None, 'known'
        ).processing
        for each in (short, longer)
    )
    assert moving.rest_band is None
    assert np.all(np.array(resting.rest_band) > 0.0)
    rows = [rows_of_joints(replace(recording, runs=(r,)), moving) for r in (short, longer)]
    np.testing.assert_allclose(rows[1], rows[0], rtol=0.3)
    whole = replace(recording, runs=(longer,))
    factors = Observation(scara, whole, resting).factors()
    counted = rows_of_joints(whole, resting)
    np.testing.assert_allclose(counted, factors.rows, rtol=0.25)
    assert enough(counted, rows_needed(scara))


def test_methods_that_begin_with_idim_wls_advise_what_exists(scara, recording):
    run = recording.runs[0]
    q = run.position.copy()
    q[:, 1] = 0.3
    still = replace(recording, runs=(replace(run, position=q),))
    for name in ('idim_wls', 'ekf'):
        with pytest.raises(IdentificationError, match='method idim_wls, unexcited=drop'):
            registry.create(name, {}).estimate(scara, still)


def test_a_joint_at_rest_has_no_rows(scara, recording):
    run = recording.runs[0]
    q, rng = run.position.copy(), np.random.default_rng(0)
    for still in (np.full(len(q), 0.3), 0.3 + 2e-5 * rng.normal(size=len(q))):
        q[:, 1] = still
        held = Dataset(recording.joint_names, (replace(run, position=q),), 'held')
        band, reason = resolve_rest_band(
            held, resolve_options(Processing(), held, scara).processing
        )
        assert 'elbow held in place' in reason
        speed = np.abs(np.gradient(still, run.step))
        assert band[1] > np.percentile(speed, 50)
        with pytest.raises(IdentificationError, match='elbow'):
            registry.create('idim_wls').estimate(scara, held)


def test_noise_and_resolution_are_measured(scara, recording):
    run, rng = recording.runs[0], np.random.default_rng(1)
    t = run.time - run.time[0]
    q = np.sin(2.0 * t)[:, None] * [1.0, 0.5]
    noisy = replace(recording, runs=(replace(run, position=q + 1e-3 * rng.normal(size=q.shape)),))
    np.testing.assert_allclose(position_noise(noisy), 1e-3, rtol=0.05)
    stepped = replace(recording, runs=(replace(run, position=np.round(q / 0.02) * 0.02),))
    np.testing.assert_allclose(resolution(stepped), 0.02, rtol=1e-6)
    assert not resolution(noisy).any()


def test_long_and_fast_recordings_are_looked_at_in_part(recording):
    run = recording.runs[0]
    slow = coarse(recording, run.rate / 4.5)
    assert slow.rate == pytest.approx(run.rate / 4)
    np.testing.assert_allclose(slow.runs[0].position[5:-5], run.position[::4][5:-5], atol=5e-3)
    parts = coarse(replace(recording, runs=recording.runs * 40), run.rate)
    assert len(parts) <= 30_000
