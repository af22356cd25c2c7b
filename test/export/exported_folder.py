"""A result with known parameters of a shipped robot or of a hostile URDF, exported to a folder."""

import numpy as np
from click.testing import CliRunner

from robot_id.cli.main import cli
from robot_id.methods.result import Result
from robot_id.robot import load_robot

TREE = """<robot name="2 arms */ &lt;x&gt;">
  <link name="base"/>
  {links}
  <joint name="turn" type="revolute"><parent link="base"/><child link="l0"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.3" rpy="0.1 0 0"/>
    <limit lower="-3" upper="3" velocity="2" effort="9"/></joint>
  <joint name="left */" type="revolute"><parent link="l0"/><child link="l1"/><axis xyz="0 1 0"/>
    <origin xyz="0.2 0 0"/><limit lower="-3" upper="3" velocity="2" effort="9"/></joint>
  <joint name="right" type="revolute"><parent link="l0"/><child link="l2"/><axis xyz="0 0.6 0.8"/>
    <origin xyz="-0.2 0 0"/><limit lower="-3" upper="3" velocity="2" effort="9"/>
    <mimic joint="left */" multiplier="-0.5" offset="0.2"/></joint>
  <joint name="slide" type="prismatic"><parent link="l2"/><child link="l3"/><axis xyz="1 0 0"/>
    <origin xyz="0 0 0.4"/><limit lower="0" upper="1" velocity="1" effort="9"/></joint>
</robot>"""
LINK = """<link name="l{}"><inertial><origin xyz="0.1 0.02 0.03"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0.02" izz="0.15"/></inertial></link>"""


def parameters(robot):
    """(b,) of the robot file, or of the URDF with some friction."""
    if robot.description.truth:
        return robot.truth()
    chi_st = robot.standard_prior()
    chi_st[robot.term_index] = 0.3
    return robot.base.from_standard(chi_st)


def exported(folder, name, kind):
    """
    Return robot, parameters and the folder of an export.

    :param name: a shipped robot, or 'urdf' for `TREE`.
    :param kind: the format.
    """
    if name == 'urdf':
        name = str(folder / 'tree.urdf')
        links = '\n'.join(LINK.format(k) for k in range(4))
        (folder / 'tree.urdf').write_text(TREE.format(links=links))
    robot = load_robot(name)
    chi = parameters(robot)
    covariance = np.diag((0.01 * chi) ** 2)
    Result(
        robot.name, 'idim_wls', robot.base.names, chi, covariance,
        relative_error_percent=2.0, condition_number=30.0, elapsed_s=0.1, verdict='usable',
    ).save(folder / 'r.json')  # fmt: skip
    out = folder / 'made' / 'model'
    words = ['export', str(folder / 'r.json'), '--format', kind, '--robot', name]
    run = CliRunner().invoke(cli, [*words, '--out', str(out)])
    assert run.exit_code == 0, run.output
    return robot, chi, out
