"""One plant, one loop: sample by sample, chunk by chunk or at once, the samples are the same."""

from dataclasses import replace

import numpy as np
import pytest
from errors import refused

from robot_id.control import tune
from robot_id.dynamics import Disturbances, Plant, RunningController, simulate
from robot_id.exceptions import SimulationError
from robot_id.robot import load_robot
from robot_id.trajectory.random import random_trajectory


def world(robot, reference):
    rng = np.random.default_rng(3)
    own = Disturbances.of_robot(robot, 11)
    return replace(
        own,
        position_std=np.full(robot.n, 1e-6),
        external=0.01 * robot.limits.torque * rng.normal(size=reference.position.shape),
        changes=((0.3, 1.1 * robot.truth()),),
    )


@pytest.mark.parametrize(
    ('name', 'loop'), [('emps', 'default'), ('tx40', 'one_khz'), ('tx40', 'learning')]
)
def test_sample_by_sample_from_outside_is_the_compiled_loop(name, loop):
    """What the ROS simulator does, against `simulate`: positions, and torques with their noise."""
    robot = load_robot(name)
    reference = random_trajectory(robot.limits, 0.6).sampled(robot.loop(loop).rate_hz)
    controller, d = tune(robot, robot.loop(loop)), world(robot, reference)
    whole = simulate(robot, robot.truth(), reference, controller, disturbances=d)
    q0, dq0 = reference.position[0], reference.velocity[0]
    plant = Plant(robot, robot.truth(), q0, dq0, rate_hz=controller.rate_hz, disturbances=d)
    running = RunningController(robot, controller)
    running.reset(q0, dq0)
    points = np.stack([reference.position, reference.velocity, reference.acceleration], axis=1)
    for k, point in enumerate(points):
        measured = plant.measured
        np.testing.assert_array_equal(plant.measured, measured)
        recorded = plant.advance(running.torque(point, measured))
        scale = np.abs(whole.torque).max()
        np.testing.assert_allclose(measured, whole.measured_position[k], rtol=0, atol=1e-11)
        np.testing.assert_allclose(recorded, whole.measured_torque[k], rtol=0, atol=1e-9 * scale)
    assert plant.sample == len(reference)


def test_noise_is_that_of_the_documented_streams():
    robot = load_robot('scara')
    reference = random_trajectory(robot.limits, 1.0).sampled(robot.loop().rate_hz)
    std = np.array([1e-4, 2e-4]), np.array([0.3, 0.1])
    d = Disturbances(position_std=std[0], torque_std=std[1], seed=5)
    run = simulate(robot, robot.truth(), reference, tune(robot, robot.loop()), disturbances=d)
    for k, noise in enumerate(
        (run.measured_position - run.position, run.measured_torque - run.torque)
    ):
        expected = np.random.default_rng([5, k]).normal(size=noise.shape) * std[k]
        np.testing.assert_allclose(noise, expected, rtol=0, atol=1e-12)


def test_a_step_that_fails_leaves_the_last_good_state_and_its_measurement():
    robot = load_robot('scara')
    d = Disturbances(position_std=np.full(2, 1e-3), seed=1)
    plant = Plant(robot, robot.truth(), [0.1, 0.2], rate_hz=1000.0, disturbances=d)
    seen = plant.measured
    plant.set_parameters(-robot.truth())
    with refused(SimulationError, code='diverged'):
        plant.advance(np.zeros(2))
    np.testing.assert_array_equal(plant.position, [0.1, 0.2])
    np.testing.assert_array_equal(plant.measured, seen)
    with refused(SimulationError, code='not_finite'):
        plant.reset([np.nan, 0.0])
    with refused(SimulationError, code='joint_count'):
        plant.reset([0.0])


def test_at_rest_in_balance_nothing_moves():
    """M ddq = tau - N: without gravity, speed and torque the robot stays where it is."""
    robot = load_robot('scara')
    plant = Plant(robot, robot.truth(), [0.4, -0.3], rate_hz=200.0)
    for _ in range(20):
        plant.advance(np.zeros(2))
    np.testing.assert_array_equal(plant.position, [0.4, -0.3])
    np.testing.assert_array_equal(plant.measured, [0.4, -0.3])
