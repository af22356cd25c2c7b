"""Shapes of a robot stand where its forward kinematics puts them."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from robot_id.excitation.collision_geometry import add_obstacles
from robot_id.robot import load_robot
from robot_id.robot.view import View

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_shapes_move_with_their_bodies(name):
    robot = load_robot(name)
    view = View(robot)
    assert {shape.body for shape in view.shapes} >= set(range(robot.n))
    model = robot.pinocchio
    data = model.createData()
    q = np.random.default_rng(2).uniform(-1, 1, robot.n)
    pin.forwardKinematics(model, data, q)
    for shape, (R, p) in zip(view.shapes, view.placed(q)):
        if shape.body < 0:
            continue
        frame = data.oMi[shape.body + 1] * pin.SE3(shape.rotation, shape.translation)
        np.testing.assert_allclose(R, frame.rotation, atol=1e-12)
        np.testing.assert_allclose(p, frame.translation, atol=1e-12)


def test_a_body_without_shape_is_a_box_of_its_inertia(tmp_path):
    """The homogeneous box of mass m and sides a, b, c gives the inertia back."""
    m, sides = 3.0, np.array([0.3, 0.2, 0.1])
    ix, iy, iz = m / 12.0 * (np.sum(sides**2) - sides**2)
    path = tmp_path / 'one.urdf'
    path.write_text(
        '<robot name="one"><link name="base"/><link name="arm"><inertial>'
        f'<mass value="{m}"/><origin xyz="0.1 0 0"/><inertia ixx="{ix}" iyy="{iy}" izz="{iz}" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">'
        '<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    (box,) = View(load_robot(path)).shapes
    assert box.kind == 'box'
    np.testing.assert_allclose(sorted(box.size), sorted(sides), rtol=1e-9)
    np.testing.assert_allclose(box.translation, [0.1, 0, 0], atol=1e-12)


def test_a_link_whose_visual_shapes_cannot_be_drawn_has_its_collision_shapes():
    """The UR5 shows COLLADA files, which the page does not read, beside STL files."""
    from plants.mujoco_arms import ARMS, robots_folder

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    robot = load_robot(robots_folder() / ARMS['ur5'][0])
    meshes = [shape for shape in View(robot).shapes if shape.kind == 'mesh']
    assert [shape.body for shape in meshes] == [-1, *range(robot.n)]
    assert all(Path(shape.file).is_file() for shape in meshes)


def test_obstacles_are_drawn_where_clearance_sees_them(tmp_path):
    """A box of the cell and a tool on a link; a plane has no end to draw."""
    path = tmp_path / 'cell.yaml'
    path.write_text(
        f'name: cell\nurdf: {ROOT / "urdf/tx40.urdf"}\nobstacles:\n'
        '  - {box: [0.1, 0.2, 0.3], at: [1.0, 0.5, 0.2], rpy: [0.1, 0.2, 0.3]}\n'
        '  - {sphere: 0.05, "on": link_6, at: [0.0, 0.0, 0.1]}\n'
        '  - {plane: true}\n'
    )
    robot = load_robot(path)
    bare = len(View(load_robot(ROOT / 'urdf/tx40.urdf')).shapes)
    view = View(robot)
    box, tool = view.shapes[bare:]
    assert (box.kind, box.size, box.body) == ('box', (0.1, 0.2, 0.3), -1)
    np.testing.assert_allclose(box.rotation, pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), atol=1e-12)
    assert (tool.kind, tool.size, tool.body) == ('sphere', (0.05,), robot.n - 1)
    model, geometry = pin.buildModelFromUrdf(str(robot.urdf)), pin.GeometryModel()
    add_obstacles(model, geometry, robot)
    q = np.random.default_rng(3).uniform(-1, 1, robot.n)
    data, seen = model.createData(), pin.GeometryData(geometry)
    pin.updateGeometryPlacements(model, data, geometry, seen, q)
    for (R, p), place in zip(view.placed(q)[bare:], seen.oMg):
        np.testing.assert_allclose(R, place.rotation, atol=1e-12)
        np.testing.assert_allclose(p, place.translation, atol=1e-12)
