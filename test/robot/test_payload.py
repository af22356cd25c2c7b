"""A payload against pinocchio with the body appended."""

import numpy as np
import pinocchio as pin
import pytest
from errors import refused

from robot_id import dynamics
from robot_id.exceptions import DescriptionError
from robot_id.robot import Payload, load_robot, payload_parameters

BODY = Payload(1.5, (0.05, -0.02, 0.1), (0.01, 0.001, -0.002, 0.012, 0.0005, 0.008))


def expected_change(robot, payload, joint, q, dq, ddq):
    """(N, n) what pinocchio's torques gain from the body."""
    plain, loaded = robot.pinocchio, pin.Model(robot.pinocchio)
    xx, xy, xz, yy, yz, zz = payload.inertia
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    body = pin.Inertia(payload.mass, np.array(payload.centre), tensor)
    loaded.appendBodyToJoint(loaded.getJointId(joint), body, pin.SE3.Identity())
    data = plain.createData(), loaded.createData()
    return np.array(
        [
            pin.rnea(loaded, data[1], *state) - pin.rnea(plain, data[0], *state)
            for state in zip(q, dq, ddq)
        ]
    )


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
@pytest.mark.parametrize('payload', [Payload(2.0, (0.1, 0.05, 0.2)), BODY])
def test_torques_change_as_in_pinocchio(name, payload):
    robot, rng = load_robot(name), np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-2, 2, (3, 30, robot.n))
    for joint in (None, robot.joint_names[0]):
        change = payload_parameters(robot, payload, joint)
        expected = expected_change(robot, payload, joint or robot.joint_names[-1], q, dq, ddq)
        tau = dynamics.regressor(robot, q, dq, ddq) @ change
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_a_loaded_robot_keeps_a_positive_inertia_matrix():
    robot = load_robot('tx40')
    chi = robot.truth() + payload_parameters(robot, BODY)
    q = np.random.default_rng(0).uniform(-2, 2, (100, 6))
    assert dynamics.smallest_inertia_eigenvalue(robot, chi, q) > 0


def test_mass_on_the_emps_is_mass():
    robot = load_robot('emps')
    np.testing.assert_array_equal(payload_parameters(robot, Payload(3.0, (1, 2, 3))), [3, 0, 0, 0])


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ((-1.0,), 'mass -1 kg, it must not be negative'),
        ((1.0, (0.0, 0.0, np.nan)), 'must be finite'),
        ((1.0, (0.0, 0.0)), 'centre has 3 values'),
        ((1.0, (0, 0, 0), (1.0, 0, 0, 0.1, 0, 0.1)), 'no body has the principal inertias'),
        ((1.0, (0, 0, 0), (-1.0, 0, 0, 1, 0, 1)), 'no body has the principal inertias'),
    ],
)
def test_impossible_bodies_are_refused(arguments, words):
    with pytest.raises(DescriptionError, match=words):
        Payload(*arguments)


def test_unknown_joint_is_named():
    with refused(DescriptionError, joint='elbw'):
        payload_parameters(load_robot('scara'), Payload(1.0), 'elbw')
