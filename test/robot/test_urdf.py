"""Kinematics: MDH against URDF, and URDFs as users bring them."""

import numpy as np
import pinocchio as pin
import pytest
import yaml

from robot_id import dynamics
from robot_id.exceptions import DescriptionError
from robot_id.robot import build_robot, load_robot
from robot_id.robot.files.source import robot_files
from robot_id.share import share_directory

ROOT = '<link name="base"/>'
BODY = (
    '<inertial><origin xyz="{c}" rpy="0.1 0.2 0.3"/><mass value="{m}"/><inertia ixx="0.02" '
    'ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.04"/></inertial>'
)


def link(name, mass=1.0, centre='0.1 0.02 -0.05'):
    return f'<link name="{name}">{BODY.format(c=centre, m=mass)}</link>'


def joint(name, parent, child, kind='revolute', axis='0 0 1', xyz='0.3 0 0.1', extra=''):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="0.3 -0.2 0.5"/><axis xyz="{axis}"/>{extra}</joint>'
    )


LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="40"/>'


def write(tmp_path, *parts, name='own.urdf'):
    path = tmp_path / name
    path.write_text(f'<robot name="own">{ROOT}{"".join(parts)}</robot>')
    return path


def states(robot, count=20):
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (count, robot.n)), *rng.normal(size=(2, count, robot.n))


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_mdh_and_urdf_agree(name):
    both = load_robot(name)
    folder = robot_files()[name].parent
    table = build_robot(both.description.model_copy(update={'urdf': None}), folder)
    urdf = build_robot(both.description.model_copy(update={'mdh': None}), folder)
    q, dq, ddq = states(both)
    for k in range(len(q)):
        poses = []
        for robot in (table, urdf):
            data = robot.pinocchio.createData()
            pin.forwardKinematics(robot.pinocchio, data, q[k])
            poses.append(np.array([placement.homogeneous for placement in data.oMi]))
        np.testing.assert_allclose(poses[0], poses[1], rtol=0, atol=1e-12)
    a, b = (dynamics.regressor(robot, q, dq, ddq, standard=True) for robot in (table, urdf))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(a).max())
    assert table.base.names == urdf.base.names
    # The shipped URDFs carry the inertias of the truth.
    carried = both.standard_prior()
    carried[both.inertial_index] = urdf.kinematics.inertia
    np.testing.assert_allclose(both.base.from_standard(carried), both.truth(), rtol=0, atol=1e-9)
    for key in ('lower', 'upper', 'velocity', 'torque'):
        urdf_only = load_robot(share_directory() / 'urdf' / f'{name}.urdf')
        np.testing.assert_allclose(
            getattr(urdf_only.limits, key), getattr(both.limits, key), rtol=1e-6
        )


def test_fixed_joints_and_a_tool_are_merged(tmp_path):
    path = write(
        tmp_path, link('l1'), link('l2'), link('tool', 0.7), link('flange', 0.2),
        joint('j1', 'base', 'l1', axis='0.2 0.5 0.9', extra=LIMIT),
        joint('weld', 'l1', 'flange', 'fixed'),
        joint('j2', 'flange', 'l2', 'prismatic', axis='1 1 0', extra=LIMIT),
        joint('tool_joint', 'l2', 'tool', 'fixed'),
    )  # fmt: skip
    robot = load_robot(path)
    assert robot.joint_names == ('j1', 'j2')
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    q, dq, ddq = states(robot)
    chi = robot.base.from_standard(robot.standard_prior())
    tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq)
    for k in range(len(q)):
        expected = pin.rnea(model, data, q[k], dq[k], ddq[k])
        np.testing.assert_allclose(tau[k], expected, rtol=0, atol=1e-10)


def test_continuous_joints(tmp_path):
    parts = [link('l1'), link('l2'), joint('j2', 'l1', 'l2', 'continuous', '0 1 0', extra=LIMIT)]
    own = load_robot(write(tmp_path, *parts, joint('j1', 'base', 'l1', 'continuous')))
    plain = load_robot(
        write(
            tmp_path, *(part.replace('continuous', 'revolute') for part in parts),
            joint('j1', 'base', 'l1', 'revolute', extra=LIMIT), name='plain.urdf',
        )
    )  # fmt: skip
    assert np.all(np.isinf(own.limits.lower))
    assert plain.limits.lower.tolist() == [-1, -1]
    assert own.limits.velocity.tolist() == [np.inf, 3]
    q, dq, ddq = states(own)
    np.testing.assert_array_equal(
        dynamics.regressor(own, q, dq, ddq), dynamics.regressor(plain, q, dq, ddq)
    )


def test_mimic_joints_are_the_free_robot_on_the_constraint(tmp_path):
    parts = [
        link('l1'), link('l2'), link('l3', 2.0),
        joint('j1', 'base', 'l1'), joint('j2', 'l1', 'l2', axis='0 1 0', extra='{mimic}'),
        joint('j3', 'l1', 'l3', 'prismatic', axis='1 0 0'),
    ]  # fmt: skip
    mimic = '<mimic joint="j1" multiplier="-0.5" offset="0.2"/>'
    text = ''.join(parts)
    tied = load_robot(write(tmp_path, text.replace('{mimic}', mimic)))
    free = load_robot(write(tmp_path, text.replace('{mimic}', ''), name='free.urdf'))
    assert tied.joint_names == ('j1', 'j3')
    A, shift = np.array([[1, 0], [-0.5, 0], [0, 1]]), np.array([0, 0.2, 0])
    q, dq, ddq = states(tied)
    bodies = [free.standard_names.index(name) for name in _inertial(free, (1, 2, 3))]
    own = [tied.standard_names.index(name) for name in _inertial(tied, (1, 3, 2))]
    W = dynamics.regressor(tied, q, dq, ddq, standard=True)[:, :, own]
    full = dynamics.regressor(free, q @ A.T + shift, dq @ A.T, ddq @ A.T, standard=True)
    expected = np.einsum('bi,kbs->kis', A, full[:, :, bodies])
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12)
    chi_free = free.base.from_standard(_inertial_only(free))
    chi = tied.base.from_standard(_inertial_only(tied))
    M = np.einsum('bi,kbc,cj->kij', A, dynamics.inertia_matrix(free, chi_free, q @ A.T + shift), A)
    np.testing.assert_allclose(dynamics.inertia_matrix(tied, chi, q), M, rtol=0, atol=1e-10)
    tau = dynamics.inverse_dynamics(tied, chi, q, dq, ddq)
    np.testing.assert_allclose(dynamics.direct_dynamics(tied, chi, q, dq, tau), ddq, 0, 1e-9)


def _inertial(robot, labels):
    stems = ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ', 'MX', 'MY', 'MZ', 'M')
    return [f'{stem}{label}' for label in labels for stem in stems]


def _inertial_only(robot):
    chi_st = np.zeros(len(robot.standard_names))
    chi_st[robot.inertial_index] = robot.kinematics.inertia
    return chi_st


def test_locked_joints_are_the_free_robot_at_rest_there(tmp_path):
    text = [
        link('l1'), link('l2'), link('l3'), joint('j1', 'base', 'l1'),
        joint('j2', 'l1', 'l2', 'continuous', axis='0 1 0'),
        joint('j3', 'l2', 'l3', axis='1 0 0'),
    ]  # fmt: skip
    free = load_robot(write(tmp_path, *text))
    path = tmp_path / 'locked.yaml'
    path.write_text(yaml.safe_dump({'name': 'x', 'urdf': 'own.urdf', 'locked': {'j2': 0.4}}))
    locked = load_robot(path)
    assert locked.joint_names == ('j1', 'j3')
    q, dq, ddq = states(locked)
    A, shift = np.array([[1, 0], [0, 0], [0, 1]]), np.array([0, 0.4, 0])
    full = dynamics.inverse_dynamics(
        free, free.base.from_standard(_inertial_only(free)), q @ A.T + shift, dq @ A.T, ddq @ A.T
    )
    chi = locked.base.from_standard(_inertial_only(locked))
    tau = dynamics.inverse_dynamics(locked, chi, q, dq, ddq)
    np.testing.assert_allclose(tau, full @ A, rtol=0, atol=1e-10)


def test_a_mimic_of_a_locked_joint_is_locked_too(tmp_path):
    write(
        tmp_path, link('l1'), link('l2'), link('l3'), joint('j1', 'base', 'l1'),
        joint('j2', 'l1', 'l2'),
        joint('j3', 'l2', 'l3', extra='<mimic joint="j2" multiplier="2" offset="0.1"/>'),
    )  # fmt: skip
    path = tmp_path / 'robot.yaml'
    path.write_text(yaml.safe_dump({'name': 'x', 'urdf': 'own.urdf', 'locked': {'j2': 0.4}}))
    by_mimic = load_robot(path)
    path.write_text(
        yaml.safe_dump({'name': 'x', 'urdf': 'own.urdf', 'locked': {'j2': 0.4, 'j3': 0.9}})
    )
    np.testing.assert_allclose(
        by_mimic.kinematics.inertia, load_robot(path).kinematics.inertia, rtol=0, atol=1e-14
    )


def test_joints_in_the_order_of_the_robot_file(tmp_path):
    write(tmp_path, link('l1'), link('l2'), joint('j1', 'base', 'l1', extra=LIMIT),
          joint('j2', 'l1', 'l2', axis='0 1 0'))  # fmt: skip
    path = tmp_path / 'robot.yaml'
    path.write_text(
        yaml.safe_dump(
            {'name': 'x', 'urdf': 'own.urdf', 'joints': [{'name': 'j2'}, {'name': 'j1'}]}
        )
    )
    turned, plain = load_robot(path), load_robot(tmp_path / 'own.urdf')
    assert turned.joint_names == ('j2', 'j1')
    assert turned.limits.lower.tolist() == [-np.inf, -1]
    q, dq, ddq = states(plain)
    a = dynamics.regressor(plain, q, dq, ddq, standard=True)
    b = dynamics.regressor(turned, q[:, ::-1], dq[:, ::-1], ddq[:, ::-1], standard=True)
    # Link and joint numbers follow the robot file: XX2, Fv2 belong to j1.
    swap = str.maketrans('12', '21')
    order = [turned.standard_names.index(name.translate(swap)) for name in plain.standard_names]
    np.testing.assert_allclose(b[:, ::-1, order], a, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ('parts', 'words'),
    [
        ([link('l1'), joint('j1', 'base', 'l1', 'planar')], "joint 'j1' is planar"),
        ([link('l1'), joint('j1', 'base', 'l1', 'floating')], "joint 'j1' is floating"),
        ([link('l1'), joint('j1', 'base', 'l1', 'fixed')], 'no moving joint'),
        ([link('l1', -2.0), joint('j1', 'base', 'l1')], "link 'l1': mass -2 kg, it must not be n"),
        ([link('l1', 'heavy'), joint('j1', 'base', 'l1')], "mass 'heavy' is not a number"),
        ([link('l1'), joint('j1', 'base', 'l1', axis='0 0 0')], "joint 'j1' has a zero axis"),
        ([link('l1'), joint('j1', 'base', 'l1', axis='0 1')], 'axis has 2 numbers, not 3'),
        ([link('l1'), joint('j1', 'base', 'l1', axis='0 0 x')], "axis 'x' is not a number"),
        (
            [link('l1'), joint('j1', 'base', 'l2')],
            "joint 'j1': its child 'l2' is not a link, did you mean 'l1'?",
        ),
        (
            [link('l1'), link('l2'), joint('j1', 'base', 'l1')],
            'must have no parent, here: base, l2',
        ),
        (
            [link('l1'), joint('j1', 'base', 'l1'), joint('j2', 'base', 'l1')],
            "joint 'j2': link 'l1' is the child of two joints",
        ),
        (
            [link('l1'), joint('j1', 'base', 'l1', extra='<mimic joint="j7"/>')],
            "joint 'j1' mimics 'j7', did you mean 'j1'?",
        ),
        (
            [link('l1'), joint('j1', 'base', 'l1', extra='<mimic joint="j1"/>')],
            "joint 'j1' mimics itself",
        ),
        (
            [link('l1'), joint('j1', 'base', 'l1', extra='<mimic/>')],
            'the mimic tag names no joint',
        ),
        (['<xacro:macro name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"/>'], 'xacro'),
    ],
)
def test_what_cannot_be_handled_is_named(tmp_path, parts, words):
    path = write(tmp_path, *parts)
    with pytest.raises(DescriptionError) as caught:
        load_robot(path)
    assert words in str(caught.value)
    assert '\n' not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ('content', 'words'),
    [(b'<robot', 'not XML'), (b'<sdf/>', "first tag is 'sdf'"), (b'\xff\xfe', 'not a text file')],
)
def test_files_that_are_no_urdf(tmp_path, content, words):
    path = tmp_path / 'own.urdf'
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=words):
        load_robot(path)
    with pytest.raises(DescriptionError, match='no file'):
        load_robot(tmp_path / 'none.urdf')
