"""MJCF, SDF and ros2_control: nothing is lost that the format can hold, and the rest is said."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import yaml
from errors import refused

from robot_id.dynamics import inertia_matrix
from robot_id.exceptions import DataError
from robot_id.export import export
from robot_id.methods.model_file import load_result_or_model
from robot_id.methods.parameters import parameters_for
from robot_id.methods.result import Result
from robot_id.robot import RobotDescription, build_robot, load_robot

mujoco = pytest.importorskip('mujoco')


def result_of(robot, chi=None):
    """Return a result around base parameters."""
    chi = robot.truth() if chi is None else chi
    covariance = np.diag((0.01 * np.abs(chi) + 1e-4) ** 2)
    return Result(robot.name, 'idim_wls', robot.base.names, chi, covariance, verdict='usable')


def test_mjcf_holds_the_rotor_of_a_coupled_motor_as_a_tendon():
    robot = load_robot('tx40')
    made = export('mjcf', result_of(robot), Path('r.json'), 'tx40')
    made.check(made.text)
    assert not any('no place' in note for note in made.notes)
    model = mujoco.MjModel.from_xml_string(made.text)
    data = mujoco.MjData(model)
    q = np.random.default_rng(0).uniform(-1, 1, (5, 6))
    M = np.zeros((6, 6))
    for posture, expected in zip(q, inertia_matrix(robot, robot.truth(), q)):
        data.qpos[:] = posture
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        assert np.allclose(M, expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_an_actuator_takes_the_offset_of_its_joint():
    robot = load_robot('emps')
    chi = robot.truth()
    chi[robot.base.index('Off1')] = -3.2
    made = export('mjcf', result_of(robot, chi), Path('r.json'), 'emps')
    made.check(made.text)
    model = mujoco.MjModel.from_xml_string(made.text)
    data = mujoco.MjData(model)
    data.ctrl[:] = -3.2
    mujoco.mj_forward(model, data)
    assert np.allclose(data.qacc, 0.0, atol=1e-9)


@pytest.mark.parametrize('kind', ['urdf', 'sdf', 'mjcf'])
@pytest.mark.parametrize('name', ['scara', 'tx40'])
def test_every_model_takes_the_place_of_its_result(name, kind, tmp_path):
    robot, path = load_robot(name), tmp_path / f'model.{kind}'
    made = export(kind, result_of(robot), Path('r.json'), name)
    path.write_text(made.text)
    x = yaml.safe_load(made.others['.params.yaml'])['standard_parameters']
    lost = ('Ia', 'Fvm', 'Fcm') if kind != 'mjcf' and name == 'tx40' else ()
    kept = [0.0 if key.startswith(lost or '-') else x[key] for key in robot.standard_names]
    found = parameters_for(robot, load_result_or_model(robot, path))
    assert np.allclose(found, robot.base.from_standard(np.array(kept)), atol=1e-7)


@pytest.mark.parametrize('kind', ['sdf', 'mjcf'])
def test_a_model_of_another_robot_is_refused_in_one_line(kind, tmp_path):
    robot, path = load_robot('tx40'), tmp_path / f'model.{kind}'
    text = export(kind, result_of(robot), Path('r.json'), 'tx40').text
    path.write_text(text.replace('0.0 0.0 1.0', '0.0 0.6 0.8', 1))
    assert path.read_text() != text
    with refused(DataError, code='other_kinematics'):
        load_result_or_model(robot, path)
    path.write_text(text)
    with refused(DataError, joint='carriage'):
        load_result_or_model(load_robot('emps'), path)


def arm_with(friction, folder):
    """Return a two-joint arm with friction terms, and all of its parameters set."""
    rows = [{}, {'alpha': 1.2, 'd': 0.3}]
    joints = [{'name': 'a', 'friction': friction}, {'name': 'b', 'friction': friction}]
    content = {'name': 'arm', 'mdh': rows, 'joints': joints}
    if 'load' in friction:
        content['a_priori'] = {'ZZ1': 0.2, 'M2': 4.0, 'MX2': 0.4, 'ZZ2': 0.3}
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump(content))
    robot = build_robot(RobotDescription.model_validate(content), folder)
    x = np.zeros(len(robot.standard_names))
    for columns in robot.inertial_index:
        x[columns] = [0.2, 0.01, 0, 0.3, 0, 0.25, 0.4, 0.1, 0.05, 4.0]
    for k, name in enumerate(robot.standard_names):
        if k not in robot.inertial_index:
            x[k] = 0.3 + 0.01 * k if name.endswith('+') else 0.2
    return path, robot, robot.base.from_standard(x)


@pytest.mark.parametrize('kind', ['urdf', 'mjcf', 'sdf'])
@pytest.mark.parametrize(
    ('friction', 'says'),
    [
        (['asymmetric_viscous', 'asymmetric_coulomb'], 'differs by direction'),
        (['viscous', 'smooth_coulomb', 'offset'], 'changes sign smoothly'),
        (['viscous', 'coulomb', 'stribeck', 'quadratic'], 'Fs1'),
        (['viscous', 'coulomb', 'load'], 'Fl2'),
    ],
)
def test_friction_that_a_file_cannot_hold_is_said(friction, says, kind, tmp_path):
    path, robot, chi = arm_with(friction, tmp_path)
    made = export(kind, result_of(robot, chi), Path('r.json'), str(path))
    assert 'differ by' in made.check(made.text)
    assert any(says in note for note in made.notes)
    joint = yaml.safe_load(made.others['.params.yaml'])['joints']['b']
    assert set(joint['friction']) == set(friction)


def test_ros2_control_adds_its_tag_and_gains_of_the_identified_inertia():
    robot = load_robot('scara')
    made = export('ros2_control', result_of(robot), Path('r.json'), 'scara')
    made.check(made.text)
    tag = ElementTree.fromstring(made.text).find('ros2_control')
    assert [joint.get('name') for joint in tag.findall('joint')] == list(robot.joint_names)
    text = made.others['.controllers.yaml']
    assert '&' not in text  # ROS reads no references
    gains = yaml.safe_load(text)['joint_trajectory_controller']['ros__parameters']['gains']
    assert gains['elbow']['ff_velocity_scale'] == pytest.approx(0.013, rel=0.01)
    assert gains['elbow']['p'] > 0


@pytest.mark.parametrize(
    'coupling', [[[50, 50], [50, -50]], [[50, 0], [50, 50]]], ids=['differential', 'wrist']
)
def test_mjcf_holds_motors_that_turn_each_others_joints(coupling, tmp_path):
    joints = [{'name': name, 'friction': ['viscous', 'coulomb']} for name in 'ab']
    content = {'name': 'wrist', 'mdh': [{}, {'alpha': 1.2, 'd': 0.3}], 'joints': joints}
    path = tmp_path / 'wrist.yaml'
    path.write_text(yaml.safe_dump({**content, 'coupling': coupling}))
    robot = load_robot(path)
    x = np.zeros(len(robot.standard_names))
    x[robot.inertial_index] = [0.2, 0.01, 0, 0.3, 0, 0.25, 0.4, 0.1, 0.05, 4.0]
    for k, name in enumerate(robot.standard_names):
        x[k] = {'Ia': 0.5, 'Fv': 2.0, 'Fc': 1.0}.get(name[:2], x[k])
        x[k] = {'Fvm': 0.4, 'Fcm': 0.3}.get(name[:3], x[k])
    made = export('mjcf', result_of(robot, robot.base.from_standard(x)), Path('r.json'), str(path))
    assert 'differ by' in made.check(made.text)


def test_a_light_joint_with_fast_damping_gets_an_implicit_integrator():
    robot = load_robot('emps')
    chi = robot.truth()
    chi[robot.base.index('M1')], chi[robot.base.index('Fv1')] = 0.01, 100.0  # 1e4 per second
    made = export('mjcf', result_of(robot, chi), Path('r.json'), 'emps')
    assert any('implicitfast' in note for note in made.notes)
    model = mujoco.MjModel.from_xml_string(made.text)
    data = mujoco.MjData(model)
    data.qvel[:] = 1.0
    mujoco.mj_step(model, data, 100)
    assert np.all(np.abs(data.qvel) < 1e-3)
