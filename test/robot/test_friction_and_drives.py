"""Friction through the mechanism: never a source of energy; motor side and joint side agree."""

import numpy as np
import pytest
from errors import refused
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robot_id import dynamics
from robot_id.exceptions import DescriptionError
from robot_id.regression.consistency.constraints import constraints_of
from robot_id.robot import Robot, RobotDescription, load_robot
from robot_id.robot.files.description import MdhRow
from robot_id.robot.kinematics import from_mdh

positive = st.floats(0.0, 5.0)


def planar(n, coupling):
    """Return a chain of n parallel axes with the coupling, no gravity."""
    names = tuple(f'j{k}' for k in range(n))
    rows = tuple(MdhRow(d=0.0 if k == 0 else 0.4) for k in range(n))
    description = RobotDescription.model_validate(
        {
            'name': 'planar', 'gravity': [0, 0, 0], 'coupling': coupling.tolist(),
            'mdh': [{'d': row.d} for row in rows],
            'joints': [{'name': name, 'friction': ['viscous', 'coulomb']} for name in names],
        }
    )  # fmt: skip
    return Robot(description, from_mdh(rows, names))


def mechanism(normalised, joint, motor, dq, slope):
    """(n,) torques of friction in the joints and of friction on the motors' shafts."""

    def law(pair, x):
        sign = np.sign(x) if slope is None else 2 / np.pi * np.arctan(slope * x)
        return pair[0] * x + pair[1] * sign

    shafts = normalised @ dq
    return law(joint, dq) + normalised.T @ law(motor, shafts)


def regrouped(robot, normalised, joint, motor):
    """(b,) the parameters in which the model holds the friction of the mechanism."""
    values, n = {}, robot.n
    (fv, fc), (fvm, fcm) = joint, motor
    off_diagonal = normalised - np.eye(n)
    coupled = np.any(off_diagonal != 0, axis=1)
    for j in range(n):
        values[f'Fv{j + 1}'] = fv[j] + np.sum(normalised[:, j] ** 2 * fvm)
        values[f'Fc{j + 1}'] = fc[j] + fcm[j]
        if coupled[j]:
            values[f'Fvm{j + 1}'], values[f'Fcm{j + 1}'] = fvm[j], fcm[j]
    return robot.base.from_standard(robot.standard_vector(values, 'test'))


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from([None, 5.0, 100.0]))
def test_friction_power_is_never_negative(data, n, slope):
    some = st.floats(0.02, 1).flatmap(lambda x: st.sampled_from([x, -x]))
    entries = data.draw(st.lists(some, min_size=n * n, max_size=n * n))
    present = data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    coupling = np.where(np.reshape(present, (n, n)), np.reshape(entries, (n, n)), 0.0)
    np.fill_diagonal(coupling, 1.0)
    assume(np.linalg.cond(coupling) < 1e6)
    ratios = np.array(data.draw(st.lists(st.floats(1, 100), min_size=n, max_size=n)))
    robot = planar(n, ratios[:, None] * coupling)
    four = [np.array(data.draw(st.lists(positive, min_size=n, max_size=n))) for _ in range(4)]
    joint, motor = four[:2], four[2:]
    chi = regrouped(robot, coupling, joint, motor)
    dq = np.array(data.draw(st.lists(st.floats(-3, 3), min_size=n, max_size=n)))
    rest = np.zeros(n)
    tau = dynamics.bias(robot, chi, rest, dq, slope)
    expected = mechanism(coupling, joint, motor, dq, slope)
    # The sign of a motor's speed is rounding where the joints' speeds cancel.
    assume(slope is not None or np.all(np.abs(coupling @ dq) > 1e-9))
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-9)
    assert dq @ tau >= -1e-9


def test_tx40_friction_takes_power_at_every_speed():
    robot, rng = load_robot('tx40'), np.random.default_rng(0)
    frictional = np.array([name.startswith('F') for name in robot.base.names])
    friction = np.where(frictional, robot.truth(), 0.0)
    dq = rng.normal(0, 2, (2000, 6))
    dq[:500, 4:] *= 0.05
    for slope in (None, 20.0):
        tau = dynamics.bias(robot, friction, np.zeros_like(dq), dq, slope)
        assert np.einsum('ij,ij->i', tau, dq).min() > 0


def test_tx40_coupling_is_equation_23():
    robot, rng = load_robot('tx40'), np.random.default_rng(1)
    q, dq, ddq = (rng.normal(size=(50, 6)) for _ in range(3))
    W = dynamics.regressor(robot, q, dq, ddq)

    def column(name):
        return W[:, :, robot.base.index(name)]

    v5, v6 = dq[:, 4], dq[:, 5]
    zero = np.zeros((50, 4))
    expected = np.column_stack([zero, ddq[:, 5], ddq[:, 4] + ddq[:, 5]])
    np.testing.assert_allclose(column('Ia6'), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(column('Fvm6'), np.column_stack([zero, v6, v5]), rtol=0, atol=1e-14)
    both = np.sign(v5 + v6)
    expected = np.column_stack([zero, both, both - np.sign(v6)])
    np.testing.assert_allclose(column('Fcm6'), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_motor_side_and_back(name):
    robot, rng = load_robot(name), np.random.default_rng(0)
    drives = robot.drives
    speed, torque = rng.normal(size=(7, robot.n)), rng.normal(size=(7, robot.n))
    np.testing.assert_allclose(drives.joint_motion(drives.motor_motion(speed)), speed, 0, 1e-13)
    np.testing.assert_allclose(drives.joint_torque(drives.motor_torque(torque)), torque, 0, 1e-12)
    power = np.einsum('ij,ij->i', torque, speed)
    motor = np.einsum('ij,ij->i', drives.motor_torque(torque), drives.motor_motion(speed))
    np.testing.assert_allclose(motor, power, rtol=0, atol=1e-12)
    one = drives.joint_motion(drives.motor_motion(speed[0]))
    np.testing.assert_allclose(one, speed[0], rtol=0, atol=1e-13)


def test_tx40_wrist_is_coupled_as_in_equation_22():
    drives = load_robot('tx40').drives
    motor = drives.motor_motion([0, 0, 0, 0, 1.0, 2.0])
    np.testing.assert_allclose(motor[4:], [45, 96])
    joint = drives.joint_torque([0, 0, 0, 0, 1.0, 2.0])
    np.testing.assert_allclose(joint[4:], [45 + 64, 64])


def test_singular_coupling_is_refused():
    with refused(DescriptionError, code='singular_coupling'):
        planar(2, np.array([[1.0, 1.0], [1.0, 1.0]]))
    with refused(DescriptionError, joint='j0'):
        planar(2, np.array([[0.0, 1.0], [1.0, 0.0]]))


@pytest.mark.parametrize(
    'coupling',
    [
        [[50, 50], [50, -50]],  # a differential
        [[40, 0, 0], [30, 30, 0], [20, 10, 20]],  # a wrist: each motor turns with those before
        [[40, 8, 0], [0, 30, 0], [5, 10, 20]],
    ],
)
def test_rotors_of_coupled_motors_are_those_of_the_shafts(coupling):
    coupling = np.array(coupling, float)
    robot, n = planar(len(coupling), coupling), len(coupling)
    c = coupling / np.diag(coupling)[:, None]
    J = np.array([0.3, 0.2, 0.1])[:n]
    x = np.zeros(len(robot.standard_names))
    for j, value in enumerate(robot.rotor_shares.T @ J):
        x[robot.standard_names.index(f'Ia{j + 1}')] = value
    M = dynamics.inertia_matrix(robot, robot.base.from_standard(x), np.zeros((1, n)))[0]
    np.testing.assert_allclose(M, c.T @ np.diag(J) @ c, rtol=0, atol=1e-12)
    held = constraints_of(robot)
    at = [robot.standard_names[k].startswith('Ia') for k in held.drive_columns]
    np.testing.assert_allclose((held.drives @ x[held.drive_columns])[at], J, rtol=0, atol=1e-12)
    start = dynamics.inertia_matrix(robot, robot.regular_start(), np.zeros((1, n)))[0]
    np.testing.assert_allclose(start, c.T @ c, rtol=0, atol=1e-12)


def test_friction_of_a_shaft_stays_on_a_joint_without_friction_of_its_own():
    content = {
        'name': 'wrist', 'gravity': [0, 0, 0], 'coupling': [[10, 0], [10, 10]],
        'mdh': [{}, {'d': 0.4}],
        'joints': [{'name': 'a', 'friction': ['coulomb']}, {'name': 'b', 'friction': ['viscous']}],
    }  # fmt: skip
    rows = (MdhRow(), MdhRow(d=0.4))
    robot = Robot(RobotDescription.model_validate(content), from_mdh(rows, ('a', 'b')))
    x = np.zeros(len(robot.standard_names))
    x[robot.standard_names.index('Fvm2')] = x[robot.standard_names.index('Fv2')] = 0.5
    dq = np.array([0.7, -0.2])
    tau = dynamics.bias(robot, robot.base.from_standard(x), np.zeros(2), dq)
    # Fv2 holds what the shaft takes at joint b: the shaft alone is the whole of it here.
    np.testing.assert_allclose(tau, 0.5 * dq.sum() * np.ones(2), rtol=0, atol=1e-12)
