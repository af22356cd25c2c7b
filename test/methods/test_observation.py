"""W and Y: streaming against the whole, structural zeros, memory, unexcited motion, bad data."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.data import Dataset
from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import END_ROWS, Processing
from robot_id.dynamics.acting_rows import acting_columns
from robot_id.exceptions import DataError, IdentificationError, OptionError
from robot_id.methods import registry
from robot_id.regression.preprocessing.options import resolve_options
from robot_id.regression.rows.observation import Observation
from robot_id.regression.rows.prediction import predict
from robot_id.regression.rows.sampling import walk

OPTIONS = {'cutoff_hz': 60.0, 'decimation': 5, 'rest_band': 0.05}
# Rows that are not kept are not freed from reversals.
# The motion has no loop: its torques act when they are recorded.
PLAIN = {'reversals': 'keep', 'torque_delay_s': 0.0}


def whole(robot, data, processing):
    """Build every joint's W and Y at once, with nothing but the plain functions of the rooms."""
    run = data.runs[0]
    cut = slice(processing.border, len(run) - processing.border)
    q, dq, ddq = (x[cut] for x in differentiate(run, processing))
    columns = dynamics.regressor(robot, q, dq, ddq), run.torque[cut], dq
    W, Y, V = (decimate(x, processing.decimation, even=True)[END_ROWS:-END_ROWS] for x in columns)
    band = 0.0 if processing.rest_band is None else processing.rest_band
    used = np.abs(V) >= band
    return [(W[used[:, j], j], Y[used[:, j], j]) for j in range(robot.n)]


def test_streamed_factors_and_estimates_equal_the_whole_matrices(robots, simulate):
    robot = robots['tx40']
    data = simulate(robot, duration=30.0)
    processing = resolve_options(Processing(**OPTIONS), data, robot).processing
    factors = Observation(robot, data, processing).factors()
    blocks = whole(robot, data, processing)
    W, Y = np.vstack([w for w, _ in blocks]), np.concatenate([y for _, y in blocks])
    R = factors.stack()
    scale = np.linalg.norm(R, axis=0)
    gram = np.column_stack([W, Y]).T @ np.column_stack([W, Y])
    assert np.abs((R.T @ R - gram) / np.outer(scale, scale)).max() < 1e-9
    chi = np.linalg.lstsq(W, Y)[0]
    result = registry.create('idim_ols', OPTIONS | PLAIN).estimate(robot, data)
    np.testing.assert_allclose(result.values, chi, rtol=1e-7, atol=1e-9 * np.abs(chi).max())
    assert result.extras['equations'] == len(Y)
    assert result.relative_error_percent == pytest.approx(
        100 * np.linalg.norm(Y - W @ chi) / np.linalg.norm(Y)
    )
    assert result.condition_number == pytest.approx(np.linalg.cond(W), rel=1e-6)


def test_rows_do_not_depend_on_the_chunk(robots, simulate):
    robot = robots['scara']
    data = simulate(robot)
    for filters in ({}, {'decimation_filter': 'none'}, {'filter': 'none', 'decimation': 1}):
        processing = resolve_options(Processing(**(OPTIONS | filters)), data, robot).processing

        def rows(chunk, processing=processing):
            parts = list(walk(data, processing, lambda s: s.ddq, chunk=chunk))
            return [np.concatenate([getattr(p, k) for p in parts]) for k in ('time', 'values')]

        for reference, other in zip(rows(10**6), rows(777)):
            np.testing.assert_allclose(other, reference, rtol=1e-9, atol=1e-9)


def test_predicted_torque_is_w_chi(robots, simulate):
    robot = robots['tx40']
    data = simulate(robot)
    processing = resolve_options(Processing(**OPTIONS), data, robot).processing
    chi = robot.truth()
    prediction = predict(robot, chi, data, processing)
    observation = Observation(robot, data, processing)
    residuals = observation.residuals(chi)
    for kept, walked in zip(observation.predict(chi).runs, prediction.runs):
        for name in ('time', 'measured', 'predicted', 'used'):
            np.testing.assert_allclose(getattr(kept, name), getattr(walked, name), atol=1e-8)
    run = prediction.runs[0]
    for j in range(robot.n):
        used = run.used[:, j]
        np.testing.assert_allclose(
            run.measured[used, j] - run.predicted[used, j], residuals[j], atol=1e-8
        )
    assert np.all(np.diff(run.time) > 0)


def test_structural_zeros_are_found_and_nothing_else(robots):
    robot = robots['tx40']
    columns = acting_columns(robot)
    rng = np.random.default_rng(11)
    W = dynamics.regressor(robot, *(rng.normal(size=(500, 6)) for _ in range(3)))
    for j, acting in enumerate(columns):
        rest = np.setdiff1d(np.arange(len(robot.base.names)), acting)
        assert np.abs(W[:, j, rest]).max(initial=0.0) < 1e-10
        assert np.all(np.abs(W[:, j, acting]).max(axis=0) > 0.0)
    assert sum(map(len, columns)) < 0.7 * 6 * 60


def test_memory_does_not_grow_with_w(robots, simulate):
    robot = robots['tx40']
    peaks = {}
    # Beyond a minute the choices before the fit look at no more samples.
    for duration in (75.0, 120.0):
        data = simulate(robot, duration=duration, rate=1000.0)
        estimator = registry.create('idim_wls', OPTIONS | PLAIN | {'memory_mb': 0})
        tracemalloc.start()
        streamed = estimator.estimate(robot, data)
        peaks[duration] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    whole_w = 120_000 * 6 * 60 * 8 / 1e6
    assert peaks[120.0] < 0.4 * whole_w
    assert peaks[120.0] - peaks[75.0] < 0.01 * whole_w, peaks
    kept = registry.create('idim_wls', OPTIONS | PLAIN).estimate(robot, data)
    np.testing.assert_allclose(streamed.values, kept.values, rtol=1e-9)


def test_irls_streams_as_well(robots, simulate):
    robot = robots['scara']
    data = simulate(robot)
    results = [
        registry.create('idim_irls', OPTIONS | PLAIN | {'memory_mb': m}).estimate(robot, data)
        for m in (0, 256)
    ]
    np.testing.assert_allclose(results[0].values, results[1].values, rtol=1e-9)


def test_rows_that_are_not_kept_are_not_freed_from_reversals_and_it_is_said(robots, simulate):
    data = simulate(robots['scara'])
    for megabytes, said in ((0, True), (256, False)):
        estimator = registry.create('idim_wls', OPTIONS | {'memory_mb': megabytes})
        warnings = estimator.estimate(robots['scara'], data).warnings
        assert any('exceed memory_mb' in line for line in warnings) == said


def test_a_joint_at_rest_is_reported_by_its_parameters(robots, simulate):
    robot = robots['scara']
    data = simulate(robot)
    run = data.runs[0]
    position = run.position.copy()
    position[:, 1] = 0.3
    data = replace(data, runs=(replace(run, position=position),))
    options = OPTIONS | {'rest_band': 0}
    with pytest.raises(IdentificationError) as caught:
        registry.create('idim_wls', options).estimate(robot, data)
    assert caught.value.code == 'not_identifiable'
    assert {'Fv2', 'Fc2'} <= set(caught.value.value)
    assert str(caught.value).isprintable()
    dropped = registry.create('idim_wls', options | {'unexcited': 'drop'}).estimate(robot, data)
    assert not dropped.essential[dropped.names.index('Fv2')]
    assert dropped.essential[dropped.names.index('Fc1')]
    assert 'Fv2' in dropped.warnings[0]
    assert np.isnan(dropped.std[dropped.names.index('Fv2')])


def test_bad_data_and_options_are_refused_in_one_line(robots, simulate):
    robot = robots['scara']
    data = simulate(robot, duration=4.0)
    run = data.runs[0]
    broken = run.torque.copy()
    broken[1234, 0] = np.nan
    cases = [
        (replace(data, runs=(replace(run, torque=broken),)), {}, DataError, 'not finite'),
        (replace(data, runs=(run.rows(0, 60),)), {}, DataError, 'too short'),
        (data, {'cutoff_hz': 600}, OptionError, 'cutoff_hz'),
        (data, {'rest_band': (0.1, 0.1, 0.1)}, OptionError, 'rest_band'),
        (data, {'rest_band': 100.0}, IdentificationError, 'equations'),
        (data, {'decimation': 900}, (IdentificationError, DataError), 'equations|too short'),
    ]
    for dataset, changes, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            registry.create('idim_wls', OPTIONS | changes).estimate(robot, dataset)
        assert '\n' not in str(caught.value)
    for bad in ({'coulomb_slope': -1.0}, {'f_level': 1.0}, {'memory_mb': -1.0}):
        with pytest.raises(OptionError, match=next(iter(bad))):
            registry.create('idim_wls', bad)


def test_short_runs_are_left_out_with_a_warning(robots, simulate):
    robot = robots['scara']
    data = simulate(robot)
    both = Dataset(robot.joint_names, (*data.runs, data.runs[0].rows(0, 40)), 'two')
    result = registry.create('idim_wls', OPTIONS).estimate(robot, both)
    alone = registry.create('idim_wls', OPTIONS).estimate(robot, data)
    np.testing.assert_array_equal(result.values, alone.values)
    assert 'too short' in result.warnings[0]


def test_progress_rises_to_one_and_can_cancel(robots, simulate):
    robot = robots['scara']
    seen = []
    registry.create('idim_irls', OPTIONS).estimate(
        robot, simulate(robot), lambda fraction, text='': seen.append(fraction)
    )
    assert seen[-1] == 1.0
    assert np.all(np.diff(seen) >= -1e-12)

    class Stop(Exception):
        pass

    def cancel(fraction, text=''):
        raise Stop

    with pytest.raises(Stop):
        registry.create('idim_irls', OPTIONS).estimate(robot, simulate(robot), cancel)
