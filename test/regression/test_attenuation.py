"""Noise of the positions in W attenuates, and what it takes is put back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing
from robot_id.dynamics import Disturbances
from robot_id.methods import registry
from robot_id.regression.preprocessing.rest_band import position_noise
from robot_id.regression.solvers.attenuation import noise_share
from robot_id.tasks.recording import record

NOISE = np.array([3e-4, 3e-4])


@pytest.fixture(scope='module')
def clean(scara):
    """Return a recording without any noise."""
    return record(scara, disturbances=Disturbances())


def noisy(data, seed):
    """Return a recording with noise of the positions that the loop has not seen."""
    run = data.runs[0]
    noise = NOISE * np.random.default_rng(seed).normal(size=run.position.shape)
    return replace(data, runs=(replace(run, position=run.position + noise),))


@pytest.mark.parametrize('method', ['idim_ols', 'idim_wls'])
def test_what_the_noise_of_the_positions_takes_is_put_back(scara, clean, method):
    inertia, lost = scara.base.names.index('ZZ1R'), {}
    for choice in (False, True):
        options = {'cutoff_hz': 40.0, 'decimation': 10, 'correct_attenuation': choice}
        found = [
            registry.create(method, options).estimate(scara, noisy(clean, seed)).values[inertia]
            for seed in range(4)
        ]
        lost[choice] = np.mean(found) / scara.truth()[inertia] - 1.0
    assert lost[False] < -2e-3
    assert abs(lost[True]) < 0.4 * abs(lost[False])


def test_clean_positions_and_positions_without_a_filter_are_left_alone(scara, clean):
    for data, options in ((clean, {}), (noisy(clean, 0), {'filter': 'none', 'decimation': 1})):
        result = registry.create('idim_wls', options).estimate(scara, data)
        assert 'attenuation' not in result.extras


def test_the_noise_of_the_data_is_seen(clean):
    data = noisy(clean, 1)
    np.testing.assert_allclose(position_noise(data), NOISE, rtol=0.1)
    processing = Processing(cutoff_hz=20.0, decimation=10, border=0)
    with_noise, without = (
        decimate(differentiate(x.runs[0], processing)[2], 10)[20:-20] for x in (data, clean)
    )
    power = np.mean((with_noise - without) ** 2, axis=0) / np.mean(without**2, axis=0)
    assert noise_share(data, processing, NOISE) == pytest.approx(power.max(), rel=0.5)
