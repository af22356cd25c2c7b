"""URDFs as users have them come back with only inertial and dynamics tags changed."""

import re

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from users_urdf import URDF, bare, result_of

from robot_id.cli.main import cli
from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot

TOOL = """<link name="tool"><inertial><mass value="0.5"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>"""
LIMIT = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="5"/>'
WRIST = f"""<joint name="wrist" type="revolute"><parent link="arm"/><child link="hand"/>
    <origin xyz="0.2 0 0.1" rpy="0.1 0 0"/>{LIMIT}</joint>
  <link name="hand"><inertial><origin xyz="0.02 0 0"/><mass value="0.4"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
</robot>"""
# The links that carry the base come last in the file.
TABLE = f"""<joint name="bolt" type="KIND"><parent link="table"/><child link="base"/>
    <origin xyz="0.3 0 0.2" rpy="0 1 0"/>{LIMIT}</joint>
  <link name="table"><inertial><mass value="50"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="stand" type="fixed"><parent link="world"/><child link="table"/>
    <origin xyz="0 0 1" rpy="0.5 0.2 0"/></joint>
  <link name="world"/>
</robot>"""


def with_end(end):
    return URDF.replace('</robot>', end)


def exported(folder, content, more=None):
    """Return what the command said and the bytes that it wrote for a consistent robot."""
    path, out = folder / 'cell.urdf', folder / 'new.urdf'
    path.write_bytes(content)
    if more:
        content = {'name': 'cell', 'urdf': 'cell.urdf', **more}
        path = folder / 'cell.yaml'
        path.write_text(yaml.safe_dump(content))
    robot = load_robot(path)
    rows = robot.kinematics.inertia.copy()
    rows[rows[:, 9] <= 0.0] = [2e-4, 0, 0, 2e-4, 0, 2e-4, 0, 0, 0, 0.3]
    x = np.array([0.7 if name[:2] in ('Ia', 'Fv', 'Fc') else 0 for name in robot.standard_names])
    x[robot.inertial_index] = rows
    result_of(robot, x).save(folder / 'r.json')
    done = CliRunner().invoke(
        cli,
        ['export', str(folder / 'r.json'), '--format', 'urdf', '--robot', str(path)]
        + ['--out', str(out)],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    assert 'read back by pinocchio' in done.output
    return done.output, out.read_bytes()


@pytest.mark.parametrize(
    'text',
    [
        URDF.replace('<robot name', '<robot xmlns="http://www.ros.org" name'),
        '\ufeff' + URDF,
        '\ufeff' + URDF.split('\n', 1)[1],
        URDF.replace('\n', '\r\n'),
        with_end(TABLE.replace('KIND', 'fixed')),
        URDF.replace(TOOL, '<link name="tool"/>'),
        URDF.replace(TOOL, '<link name="tool"/>').replace(
            'name="weld" type="fixed">', f'name="weld" type="revolute">{LIMIT}'
        ),
    ],
    ids=[
        'namespace',
        'bom',
        'bom_alone',
        'crlf',
        'on_a_table',
        'no_inertial',
        'moves_no_inertial',
    ],
)
def test_what_is_not_identified_stays_as_it_was(text, tmp_path):
    said, written = exported(tmp_path, text.encode())
    assert bare(written.decode()) == bare(text)
    assert written.startswith(b'\xef\xbb\xbf') == text.startswith('\ufeff')
    assert written.count(b'\r\n') == (written.count(b'\n') if '\r\n' in text else 0)
    assert 'MuJoCo cannot' not in said


@pytest.mark.parametrize(
    ('text', 'locked'),
    [
        (with_end(WRIST), {'wrist': 0.7}),
        (with_end(WRIST), 'others'),
        (with_end(TABLE.replace('KIND', 'prismatic')), {'bolt': 0.4}),
        (URDF, {'left': 0.05}),
    ],
    ids=['wrist', 'others', 'below_the_base', 'without_mass'],
)
def test_joints_that_are_locked_stay_joints(text, locked, tmp_path):
    free = ['turn'] if 'left' in locked else ['turn', 'left']
    more = {'locked': locked, 'joints': [{'name': name} for name in free]}
    said, written = exported(tmp_path, text.encode(), more)
    assert bare(written.decode()) == bare(text)
    # MuJoCo wants a mass on every link that moves, and these have none in the user's file either.
    assert ('nor can it read the file' in said) == ('left' in locked or 'bolt' in locked)


@pytest.mark.parametrize(
    ('content', 'says'),
    [
        (URDF.encode('utf-16'), 'not a text file'),
        (URDF.encode('latin-1'), 'not a text file'),
        (URDF.replace('<robot', '<u:robot xmlns:u="x"').replace('/robot', '/u:robot').encode(),
         'not a URDF'),
        (URDF.replace('"weld" type="fixed"', '"weld" type="planar"').encode(), 'planar'),
    ],
    ids=['utf_16', 'latin_1', 'prefix', 'planar'],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_line(content, says, tmp_path):
    path = tmp_path / 'cell.urdf'
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=says) as refused:
        load_robot(path)
    assert '\n' not in str(refused.value)


def test_a_base_that_mujoco_refuses_is_a_warning(tmp_path):
    """No body has these moments; the export does not write them, it keeps them."""
    base = """<link name="base"><inertial><mass value="3"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="5"/></inertial></link>"""
    content = re.sub(r'<link name="base">.*?</link>', base, URDF, count=1)
    said, written = exported(tmp_path, content.encode())
    assert 'read back by MuJoCo' in said
    assert 'warning: MuJoCo cannot read the export' in said
    assert b'izz="5"' in written
