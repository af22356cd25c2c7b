"""Torques that a model fits well and that no drive gave are named as what they are."""

import numpy as np
import pytest

from robot_id.data import Dataset, Run
from robot_id.dynamics import inverse_dynamics
from robot_id.tasks.identify import Request, identify
from robot_id.trajectory.random import random_trajectory

ROBOT = 'tx40'

SECONDS, RATE = 10.0, 250.0


@pytest.fixture(scope='module')
def motion(robot):
    time = np.arange(int(SECONDS * RATE)) / RATE
    return time, random_trajectory(robot.limits, SECONDS).sample(time)


def reasons(robot, motion, change=None, lacking=()):
    """Return the verdict on torques of the truth without some parameters, with a change."""
    time, (q, dq, ddq) = motion
    x = robot.standard_vector(robot.description.truth, 'truth')
    x[[name.startswith(lacking or '-') for name in robot.standard_names]] = 0.0
    chi = robot.base.from_standard(x)
    tau = inverse_dynamics(robot, chi, q, dq, ddq)
    if change is not None:
        tau = change(tau, q, inverse_dynamics(robot, chi, q, 0 * q, 0 * q))
    noise = 0.02 * np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + noise * np.random.default_rng(1).normal(size=tau.shape)
    data = Dataset(robot.joint_names, (Run(time, q, tau, dq),), 'simulated')
    options = {'physical': True}
    return identify(Request(robot, data, options=options, holdout=0.0, check=False)).result


def test_a_right_recording_has_none(robot, motion):
    result = reasons(robot, motion)
    assert result.verdict == 'usable'
    assert result.reasons == ()


def test_torques_behind_the_gears_are_named(robot, motion):
    result = reasons(robot, motion, lacking=('Ia', 'Fv', 'Fc'))
    assert result.verdict == 'caution'
    assert any('behind the gears' in reason for reason in result.reasons)


def test_a_spring_is_named_with_its_joint_and_size(robot, motion):
    def sprung(tau, q, _):
        tau[:, 2] += 20.0 * q[:, 2]
        return tau

    result = reasons(robot, motion, sprung)
    assert result.verdict == 'caution'
    [found] = [reason for reason in result.reasons if 'a spring of' in reason]
    assert 'joint_3' in found
    assert float(found.split('a spring of ')[1].split()[0]) == pytest.approx(20.0, rel=0.2)


def test_compensated_gravity_is_named(robot, motion):
    result = reasons(robot, motion, lambda tau, _, weight: tau - weight)
    assert result.verdict == 'caution'
    assert any('gravity was compensated' in reason for reason in result.reasons)


def test_one_that_says_so_in_its_robot_file_is_right(robot, motion):
    joints = tuple(
        joint.model_copy(update={'friction': (), 'rotor_inertia': 'none'})
        for joint in robot.joints
    )
    update = {'joints': joints, 'truth': {}, 'a_priori': {}, 'coupling': None}
    other = type(robot)(robot.description.model_copy(update=update), robot.kinematics, robot.urdf)
    time, (q, dq, ddq) = motion
    x = np.zeros(len(other.standard_names))
    truth = robot.description.truth
    for k, name in enumerate(other.standard_names):
        x[k] = truth.get(name, 0.0)
    tau = inverse_dynamics(other, other.base.from_standard(x), q, dq, ddq)
    data = Dataset(robot.joint_names, (Run(time, q, tau, dq),), 'simulated')
    result = identify(Request(other, data, holdout=0.0, check=False)).result
    assert not any('behind the gears' in reason for reason in result.reasons)
