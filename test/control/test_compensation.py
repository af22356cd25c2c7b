"""Torques that a robot adds to its commands by itself, against pinocchio and in closed loop."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest

from robot_id.control import ComputedTorque
from robot_id.control.runtime.compensation import Compensation
from robot_id.control.runtime.simulated_robot import SimulatedRobot
from robot_id.data.mapping import load_mapping
from robot_id.dynamics import Disturbances
from robot_id.dynamics.inverse import inverse_dynamics
from robot_id.exceptions import DataError
from robot_id.robot import load_robot
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.trajectory.default import motion_of

ROBOT = 'tx40'

ROOT = Path(__file__).resolve().parents[2]
MAPPING = 'topics: {}\ncontrol: {compensated: [gravity]}\n'


def test_gravity_is_that_of_pinocchio():
    arm = load_robot(ROOT / 'urdf/tx40.urdf')
    model = pinocchio.buildModelFromUrdf(str(arm.urdf))
    data = model.createData()
    carried = Compensation(arm, ['gravity'])
    chi = arm.base.from_standard(arm.standard_prior())
    rng = np.random.default_rng(3)
    for q in rng.uniform(-2.0, 2.0, (20, arm.n)):
        expected = pinocchio.computeGeneralizedGravity(model, data, q)
        found = carried(chi, q, rng.normal(size=arm.n))
        assert np.abs(expected).max() > 0.1
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize('terms', [('gravity',), ('friction',), ('gravity', 'friction')])
def test_what_is_left_is_the_model_without_these_terms(robot, terms):
    chi = robot.truth()
    q, dq, ddq = np.random.default_rng(5).normal(size=(3, robot.n))
    slope = robot.description.coulomb_slope
    rest = np.zeros(robot.n)
    whole = inverse_dynamics(robot, chi, q, dq, ddq, slope)
    left = whole - Compensation(robot, terms)(chi, q, dq)
    expected = whole.copy()
    if 'gravity' in terms:
        expected -= inverse_dynamics(robot, chi, q, rest, rest, slope) - _friction(robot, rest)
    if 'friction' in terms:
        expected -= _friction(robot, dq)
    assert np.abs(left - expected).max() < 1e-9


def _friction(robot, dq):
    """F(dq), the part of the torque that is odd in dq at no acceleration, and the offsets."""
    chi = robot.truth().copy()
    for i, name in enumerate(robot.base.names):
        if not name.startswith(('F', 'Off')):
            chi[i] = 0.0
    rest = np.zeros(robot.n)
    return inverse_dynamics(robot, chi, rest, dq, rest, robot.description.coulomb_slope)


def test_a_robot_that_carries_itself_moves_as_one_that_does_not(robot):
    """The same parameters, sixty with gravity: on a plain plant, and on one that adds G(q)."""
    carried = Compensation(robot, ['gravity'])
    motions = [_moves(robot, None), _moves(robot, carried)]
    assert np.abs(motions[0] - motions[1]).max() < 1e-9
    assert np.ptp(motions[0], axis=0).max() > 0.1
    sagging = _moves(robot, carried, ignored=True)
    assert np.abs(sagging - motions[0]).max() > 1e-4


def _moves(robot, carried, ignored=False):
    law = ComputedTorque(robot, robot.truth())
    loop = law.loop
    plant = SimulatedRobot(
        robot, robot.truth(), loop, loop.rate_hz, Disturbances(), timeout_s=1.0, hold=False
    )
    motion = motion_of(robot)
    plant.reset(motion.sample(0.0)[0], np.zeros(robot.n))
    found = []
    for k in range(500):
        q = plant.plant.measured.copy()
        qr, dqr, ddqr = motion.sample(k / loop.rate_hz)
        torque = law.step(q, qr, dqr, ddqr)
        if carried is not None:
            sent = torque if ignored else torque - carried(robot.truth(), q, dqr)
            # The robot's own gravity, by its own model.
            rest = np.zeros(robot.n)
            still = inverse_dynamics(robot, robot.truth(), q, rest, rest)
            torque = sent + still - _friction(robot, rest)
        plant.command(torque)
        plant.advance_by_command()
        found.append(q)
    return np.array(found)


def test_only_commands_have_it(tmp_path, robot):
    file = tmp_path / 'm.yaml'
    file.write_text(MAPPING)
    driver = DriverMapping(str(file), robot.joint_names, robot.drive_gains)
    assert driver.compensated == ('gravity',)
    for wrong in ('torque: {compensated: [gravity]}', 'control: {compensated: [weight]}'):
        file.write_text(f'topics: {{}}\n{wrong}\n')
        with pytest.raises(DataError, match='compensated'):
            load_mapping(file)


@pytest.mark.parametrize('make', ['franka', 'kuka'])
def test_arms_that_carry_themselves_say_so_in_their_mapping(make):
    assert load_mapping(f'{make}_driver').control.compensated == ('gravity',)
