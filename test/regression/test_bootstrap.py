"""The moving-block bootstrap against the exact covariance of coloured noise."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id.methods import registry
from robot_id.regression.uncertainty.bootstrap import bootstrap_covariance
from robot_id.robot import load_robot
from robot_id.tasks.recording import record


@pytest.mark.parametrize('pole', [0.0, 0.6])
def test_blocks_tell_the_scatter_of_a_fit_with_coloured_noise(pole):
    rng, M = np.random.default_rng(2), 1500
    t = np.linspace(0.0, 1.0, M)
    W = np.stack([np.cos(2.0 * np.pi * f * t) for f in (3.0, 7.0, 11.0)], axis=1)
    Q = np.linalg.qr(W)[0][:, None, :]
    lags = np.abs(np.subtract.outer(np.arange(M), np.arange(M)))
    gamma = pole**lags / (1.0 - pole**2)
    exact = np.sqrt(np.diag(Q[:, 0].T @ gamma @ Q[:, 0]))
    found = []
    for _ in range(6):
        noise = rng.normal(size=M + 100)
        for k in range(1, len(noise)):
            noise[k] += pole * noise[k - 1]
        rho = noise[100:] - Q[:, 0] @ (Q[:, 0].T @ noise[100:])
        found.append(np.diag(bootstrap_covariance([Q], [Q], [rho[:, None]])))
    ratio = np.sqrt(np.mean(found, axis=0)) / exact
    assert ratio == pytest.approx(np.ones(3), abs=0.2)


def test_every_kind_of_deviation_can_be_asked_for_and_they_belong_together():
    robot = load_robot('emps')
    data = record(robot, seed=3)
    for method in ('idim_ols', 'idim_irls', 'idim_tls', 'idim_iv', 'didim'):
        std = {}
        for kind in ('robust', 'bootstrap', 'classical'):
            result = registry.create(method, {'deviations': kind}).estimate(robot, data)
            std[kind] = result.std
            assert np.all(std[kind] > 0.0)
        assert not np.allclose(std['bootstrap'], std['classical'], rtol=1e-3)
        ratio = std['bootstrap'] / std['robust']
        assert np.all((ratio > 0.4) & (ratio < 2.5)), method
