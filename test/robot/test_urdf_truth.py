"""A robot that is a URDF alone can be simulated: inertias, damping and friction are its truth."""

import numpy as np
import pinocchio as pin
import pytest
import yaml
from errors import refused

from robot_id.dynamics import inverse_dynamics
from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot
from robot_id.tasks import record

LINK = """
  <link name="{name}">
    <inertial>
      <origin xyz="0.1 -0.02 0.05" rpy="0.3 -0.2 0.1"/>
      <mass value="{mass}"/>
      <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/>
    </inertial>
  </link>"""
JOINT = """
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/><child link="{child}"/>
    <origin xyz="0 0.3 0.1" rpy="0 0.4 0"/><axis xyz="{axis}"/>
    <limit lower="-2" upper="2" velocity="2" effort="80"/>
    {dynamics}
  </joint>"""
DYNAMICS = '<dynamics damping="0.7" friction="1.3"/>', '<dynamics damping="0.2"/>', ''


def urdf(folder, masses=(3.0, 2.0, 1.0)):
    """Write an arm of three links."""
    text = '<robot name="arm"><link name="base"/>'
    for j, mass in enumerate(masses):
        text += LINK.format(name=f'l{j}', mass=mass) if mass else f'<link name="l{j}"/>'
        parent = f'l{j - 1}' if j else 'base'
        axis = '0 0 1' if j == 0 else '0 1 0'
        text += JOINT.format(
            name=f'j{j}', parent=parent, child=f'l{j}', axis=axis, dynamics=DYNAMICS[j]
        )
    path = folder / 'arm.urdf'
    path.write_text(text + '</robot>')
    return path


def test_torques_of_a_urdf_are_those_of_pinocchio(tmp_path):
    path = urdf(tmp_path)
    robot = load_robot(str(path))
    model = pin.buildModelFromUrdf(str(path))
    own = model.createData()
    rng = np.random.default_rng(4)
    q, ddq = rng.normal(size=(2, 50, 3))
    dq = rng.choice([-1.0, 1.0], (50, 3)) * rng.uniform(0.5, 2.0, (50, 3))
    friction = np.array([0.7, 0.2, 0.0]) * dq + np.array([1.3, 0.0, 0.0]) * np.sign(dq)
    rigid = np.array([pin.rnea(model, own, *state) for state in zip(q, dq, ddq)])
    tau = inverse_dynamics(robot, robot.truth(), q, dq, ddq)
    np.testing.assert_allclose(tau, rigid + friction, atol=1e-10)


def test_friction_that_the_robot_file_leaves_out_is_left_out(tmp_path):
    urdf(tmp_path)
    joints = [
        {'name': 'j0', 'friction': ['viscous']},
        {'name': 'j1', 'friction': []},
        {'name': 'j2', 'friction': ['asymmetric_viscous']},
    ]
    path = tmp_path / 'arm.yaml'
    path.write_text(yaml.safe_dump({'name': 'arm', 'urdf': 'arm.urdf', 'joints': joints}))
    robot = load_robot(path)
    truth = dict(zip(robot.base.names, robot.truth()))
    assert truth['Fv1'] == pytest.approx(0.7)
    assert not [name for name in truth if name.startswith('Fc')]


def test_a_urdf_alone_is_recorded_in_a_loop_of_its_own(tmp_path):
    recording = record(load_robot(str(urdf(tmp_path))))
    (run,) = recording.runs
    assert np.abs(run.position - run.reference_position).max() < 0.01
    assert np.ptp(run.torque, axis=0).min() > 0.05


def test_what_cannot_be_simulated_is_refused_with_the_way_out(tmp_path):
    bare = load_robot(str(urdf(tmp_path, (0.0, 0.0, 0.0))))
    with refused(DescriptionError, code='no_truth'):
        bare.truth()
    tip = load_robot(str(urdf(tmp_path, (3.0, 2.0, 0.0))))
    with refused(DescriptionError, joint='j2'):
        tip.truth()
