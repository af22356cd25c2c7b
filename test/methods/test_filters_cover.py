"""Estimates of methods that filter the data themselves, in units of their deviations."""

import numpy as np
import pytest

from robot_id.dynamics import Disturbances
from robot_id.methods import registry
from robot_id.robot import load_robot
from robot_id.tasks.recording import record

SEEDS = range(61000, 61008)


def scores(robot, method, options=None, seeds=SEEDS):
    """(seeds, b) errors over stated deviations, of parameters that are not zero."""
    found = []
    for seed in seeds:
        result = registry.create(method, options or {}).estimate(robot, record(robot, seed=seed))
        found.append((result.values - robot.truth()) / result.std)
    return np.array(found)[:, robot.truth() != 0.0]


@pytest.mark.parametrize(('name', 'percent'), [('scara', 0.08), ('tx40', 0.005)])
def test_without_noise_the_filter_finds_the_friction(name, percent):
    """Joints turn within a step (SCARA, 0.6 % before), torques change within it (TX40, 0.03 %)."""
    robot = load_robot(name)
    result = registry.create('ekf', {}).estimate(robot, record(robot, disturbances=Disturbances()))
    for k, parameter in enumerate(result.names):
        if parameter.startswith(('Fc', 'Fv')):
            truth = robot.truth()[k]
            assert abs(result.values[k] - truth) < percent / 100.0 * abs(truth), parameter


def test_integrals_cover():
    """Integrals from the start state far less of their scatter than those of a window."""
    robot = load_robot('emps')
    windows, from_start = (
        np.sqrt(np.mean(scores(robot, 'integral', options) ** 2))
        for options in ({}, {'integral_s': 1e6})
    )
    assert 0.4 < windows < 1.4
    assert from_start > 2.0 * windows


def test_noise_of_the_positions_does_not_shrink_the_inertia_of_rls():
    robot = load_robot('scara')
    inertia = robot.base.names.index('ZZ1R')
    corrected = scores(robot, 'rls')[:, inertia].mean()
    kept = scores(robot, 'rls', {'correct_attenuation': False})[:, inertia].mean()
    assert abs(corrected) < 1.0
    assert kept < -1.0
    assert kept < corrected - 0.8
