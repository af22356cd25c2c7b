"""The picture of the links: ellipses that have the inertia of the bodies."""

import re

import numpy as np

from robot_id.methods.consistency import project, standard_of
from robot_id.methods.result import Result
from robot_id.report.html.links import link_section, view
from robot_id.robot import load_robot

URDF = """<robot name="r"><link name="base"/>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
</joint><link name="arm"><inertial><mass value="5"/><origin xyz="0.2 0 0.1"/>
<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.4" iyz="0" izz="0.3"/></inertial></link></robot>"""


def test_an_ellipse_has_the_axes_of_its_body(tmp_path):
    path = tmp_path / 'r.urdf'
    path.write_text(URDF)
    robot = load_robot(path)
    rows = robot.kinematics.inertia
    text = view(robot, rows, rows, np.array([True]), np.zeros(1), 0, 2)
    assert text.count('predicted open') == 1
    found = re.findall(r'rx="([\d.]+)" ry="([\d.]+)" transform="rotate\(([-\d.]+)', text)
    assert len(found) == 2  # identified and URDF, one on the other
    radii = sorted(float(r) for r in found[0][:2])
    # Second moments m/5 r^2: along x (yy + zz - xx)/2 = 0.25, along z (xx + yy - zz)/2 = 0.15.
    assert np.isclose(radii[0] / radii[1], np.sqrt(0.15 / 0.25), rtol=0.01)


def test_the_section_stands_identified_beside_urdf_and_only_where_there_are_bodies(tmp_path):
    robot = load_robot('tx40')
    chi = robot.truth()
    covariance = np.diag((0.01 * np.abs(chi) + 1e-4) ** 2)
    result = Result('tx40', 'idim_wls', robot.base.names, chi, covariance)
    assert link_section(robot, result) == ''
    possible = project(robot, result)
    text = link_section(robot, possible)
    assert text.count('<svg') == 3
    for name in robot.joint_names:
        assert name in text
    masses = robot.standard.inertial_rows(standard_of(robot, possible))[:, 9]
    assert f'{masses[1]:.3g}' in text
