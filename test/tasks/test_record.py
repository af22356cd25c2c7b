"""A recording of a simulated robot: what it is made of."""

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.dynamics import Disturbances
from robot_id.exceptions import SimulationError
from robot_id.tasks import dataset_of, perform, record
from robot_id.trajectory.default import motion_of
from robot_id.trajectory.random import random_trajectory


def test_without_noise_the_motion_satisfies_the_inverse_model_of_the_given_parameters(scara):
    heavier = 1.2 * scara.truth()
    motion = random_trajectory(scara.limits, 2.0)
    done = perform(scara, motion, loop='paper', parameters=heavier, disturbances=Disturbances())
    slope = scara.description.coulomb_slope
    states = done.position, done.velocity, done.acceleration
    model = dynamics.inverse_dynamics(scara, heavier, *states, coulomb_slope=slope)
    np.testing.assert_allclose(model, done.torque, atol=1e-9 * np.abs(done.torque).max())
    np.testing.assert_array_equal(done.measured_position, done.position)
    assert done.reference.rate == pytest.approx(scara.loop('paper').rate_hz)


def test_noise_is_the_robot_files_and_the_seed_decides(scara):
    data, same, other = (record(scara, seed=seed) for seed in (3, 3, 4))
    run, step = data.runs[0], np.array(scara.description.noise.encoder_step)
    assert data.joint_names == scara.joint_names
    np.testing.assert_array_equal(run.torque, same.runs[0].torque)
    assert np.any(run.torque != other.runs[0].torque)
    counts = (run.position - run.position[0]) / step
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
    exact = perform(scara, seed=3)
    rms = np.sqrt(np.mean((run.torque - exact.torque) ** 2, axis=0))
    np.testing.assert_allclose(rms, scara.description.noise.torque_std, rtol=0.1)


def test_the_motion_of_the_robot_file_cycles_and_thinning(scara):
    motion = motion_of(scara)
    once, twice = perform(scara, seed=1), perform(scara, motion, seed=1, cycles=2)
    assert twice.reference.duration == pytest.approx(2.0 * once.reference.duration)
    thin = dataset_of(scara, once, every=4).runs[0]
    np.testing.assert_array_equal(thin.position, once.measured_position[::4])
    np.testing.assert_array_equal(record(scara, seed=1, every=4).runs[0].position, thin.position)


def test_a_reference_of_another_rate_is_refused(scara):
    with pytest.raises(SimulationError, match='sample the trajectory at the rate'):
        record(scara, motion_of(scara).sampled(321.0))
