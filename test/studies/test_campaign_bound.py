"""The Cramer-Rao bound of a cell, against a bound from differences of simulations."""

import numpy as np
import pytest

from robot_id.control import tune
from robot_id.dynamics import simulate
from robot_id.robot import load_robot
from robot_id.studies.campaign.cell import bound_of
from robot_id.studies.campaign.entries import NOISE
from robot_id.studies.campaign.world import reference_of

CELL = {
    'robots': {'robot': 'scara', 'loop': 'default'},
    'motions': {'motion': 'random', 'seconds': 4.0, 'seed': 3},
    'noise': dict(NOISE),
    'rates': None,
    'friction': None,
}


def with_noise(**changes):
    return CELL | {'noise': NOISE | changes}


def test_the_bound_is_that_of_simulated_differences():
    robot = load_robot('scara')
    reference, truth = reference_of(CELL), robot.truth()
    gains = tune(robot, robot.loop())

    def outputs(chi):
        done = simulate(robot, chi, reference, gains, coulomb_slope=1000.0)
        return np.stack([done.position, done.torque])

    slopes = []
    for k in range(len(truth)):
        step = np.zeros_like(truth)
        step[k] = 1e-4 * truth[k]
        slopes.append((outputs(truth + step) - outputs(truth - step)) / (2.0 * step[k]))
    noise = robot.description.noise
    scatter = np.stack([np.array(noise.encoder_step) / np.sqrt(12.0), np.array(noise.torque_std)])
    rows = np.stack(slopes, axis=-1) / scatter[:, None, :, None]
    rows = rows.reshape(-1, len(truth))
    expected = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)))
    # The sensitivities are those of the continuous loop, the differences of the sampled one.
    assert bound_of(CELL) == pytest.approx(expected, rel=0.15)


def test_noise_scales_it_and_where_there_is_none_there_is_no_bound():
    plain = np.array(bound_of(CELL))
    assert bound_of(with_noise(encoder_step=3.0, torque_std=3.0)) == pytest.approx(3.0 * plain)
    assert bound_of(with_noise(missed=0.19)) == pytest.approx(plain / 0.9)
    assert np.all(np.array(bound_of(with_noise(position_std=10.0))) > plain)
    assert bound_of(with_noise(torque_std=0.0)) == []
    assert bound_of(CELL | {'friction': ['viscous']}) == []
    assert bound_of(CELL | {'robots': {'robot': 'scara', 'loop': 'learning'}}) == []
