"""Standard DH tables, and URDFs of which only some joints are identified."""

import math

import numpy as np
import pytest
from errors import refused

from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot

DH = [(0.3, 0.4, 0.05, -math.pi / 2), (-0.2, 0.0, 0.6, 0.0), (0.1, 0.15, 0.02, math.pi / 2)]


def turn(axis: int, angle: float) -> np.ndarray:
    T, (i, j) = np.eye(4), [(1, 2), (2, 0), (0, 1)][axis]
    T[i, i] = T[j, j] = math.cos(angle)
    T[j, i], T[i, j] = math.sin(angle), -math.sin(angle)
    return T


def shift(axis: int, length: float) -> np.ndarray:
    T = np.eye(4)
    T[axis, 3] = length
    return T


def test_a_standard_table_places_the_axes_as_its_own_product_does(tmp_path):
    rows = ''.join(f'  - {{theta: {t}, d: {d}, a: {a}, alpha: {al}}}\n' for t, d, a, al in DH)
    file = tmp_path / 'arm.yaml'
    file.write_text(f'name: arm\ndh:\n{rows}joints: [{{name: a}}, {{name: b}}, {{name: c}}]\n')
    k = load_robot(file).kinematics
    q = np.array([0.7, -0.4, 1.1])
    standard, ours = np.eye(4), np.eye(4)
    for j, (theta, d, a, alpha) in enumerate(DH):
        # Joint j turns about the z axis of frame j - 1.
        placement = np.eye(4)
        placement[:3, :3], placement[:3, 3] = k.rotation[j], k.translation[j]
        ours = ours @ placement @ turn(2, q[j])
        assert ours[:3, 2] == pytest.approx(standard[:3, 2], abs=1e-12)
        # The origin of our frame lies on that axis.
        offset = ours[:3, 3] - standard[:3, 3]
        assert np.cross(offset, standard[:3, 2]) == pytest.approx(np.zeros(3), abs=1e-12)
        standard = standard @ turn(2, theta + q[j]) @ shift(2, d) @ shift(0, a) @ turn(0, alpha)
    # Flange: what is left of the last row.
    flange = ours @ shift(0, DH[-1][2]) @ turn(0, DH[-1][3])
    assert flange == pytest.approx(standard, abs=1e-12)


def test_two_tables_are_refused(tmp_path):
    file = tmp_path / 'arm.yaml'
    file.write_text('name: arm\ndh: [{a: 1}]\nmdh: [{d: 1}]\njoints: [{name: a}]\n')
    with pytest.raises(DescriptionError, match='not both'):
        load_robot(file)


URDF = """<robot name="r"><link name="l0"/><link name="l1"/><link name="l2"/><link name="l3"/>
<joint name="lift" type="prismatic"><parent link="l0"/><child link="l1"/><axis xyz="0 0 1"/>
<limit lower="0.2" upper="0.5" velocity="1" effort="1"/></joint>
<joint name="arm" type="revolute"><parent link="l1"/><child link="l2"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
<joint name="head" type="continuous"><parent link="l2"/><child link="l3"/></joint></robot>"""


def test_all_other_joints_can_be_locked_at_once(tmp_path):
    (tmp_path / 'r.urdf').write_text(URDF)
    file = tmp_path / 'r.yaml'
    file.write_text('name: r\nurdf: r.urdf\njoints: [{name: arm}]\nlocked: others\n')
    robot = load_robot(file)
    assert robot.joint_names == ('arm',)
    assert robot.kinematics.locked == {'lift': 0.2, 'head': 0.0}
    assert robot.kinematics.translation[0] == pytest.approx([0, 0, 0.2])
    file.write_text('name: r\nurdf: r.urdf\njoints: [{name: arm}]\n')
    with refused(DescriptionError, joint='lift'):
        load_robot(file)
