"""Clearance: distances, their slopes, the floor, what touches by construction."""

from __future__ import annotations

from pathlib import Path

import coal
import numpy as np
import pytest
from errors import refused

from robot_id.exceptions import DescriptionError
from robot_id.excitation.clearance import Clearance, clearance_of
from robot_id.excitation.collision_geometry import CELLS, convex_hull
from robot_id.robot import load_robot

LINK = """
  <link name="{name}">
    <inertial>
      <origin xyz="0.2 0 0"/><mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
    {collision}
  </link>"""
SPHERE = (
    '<collision><origin xyz="{x} 0 0"/><geometry><sphere radius="{r}"/></geometry></collision>'
)
JOINT = """
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="2" effort="50"/>
  </joint>"""


def arm(folder: Path, collisions: bool = True) -> Path:
    """Write three links of 1 m in a vertical plane, with a ball at the end of each."""
    parts = ['<robot name="arm">', '<link name="base">']
    parts += [SPHERE.format(x=0.0, r=0.1) if collisions else '', '</link>']
    for k, parent in enumerate(('base', 'one', 'two')):
        child = ('one', 'two', 'three')[k]
        parts.append(JOINT.format(
            name=f'j{k + 1}', parent=parent, child=child, xyz='0 0 0' if k == 0 else '1 0 0'
        ))  # fmt: skip
        ball = SPHERE.format(x=1.0, r=0.1 + 0.05 * k) if collisions else ''
        parts.append(LINK.format(name=child, collision=ball))
    path = folder / 'arm.urdf'
    path.write_text('\n'.join([*parts, '</robot>']))
    return path


def test_distances_and_slopes_match_the_closed_form(tmp_path: Path) -> None:
    path = arm(tmp_path)
    robot = load_robot(path)
    clearance = Clearance(robot, path, margin=0.05, floor=False)
    names = [clearance.name(p) for p in range(len(clearance))]
    assert names == ['base_0 and two_0', 'base_0 and three_0', 'one_0 and three_0']
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (50, 3))
    bend = np.cumsum(q, axis=1)
    points = np.cumsum(np.stack([np.cos(bend), -np.sin(bend)], axis=-1), axis=1)
    expected = np.stack(
        [
            np.linalg.norm(points[:, 1], axis=1) - 0.25,
            np.linalg.norm(points[:, 2], axis=1) - 0.3,
            np.linalg.norm(points[:, 2] - points[:, 0], axis=1) - 0.3,
        ],
        axis=1,
    )
    np.testing.assert_allclose(clearance.distances(q), expected, atol=1e-6)
    assert clearance.worst(q)[0] == pytest.approx(expected.min(), abs=1e-6)
    near = q[np.any((expected > 1e-3) & (expected < 0.07), axis=1)]
    near = near if len(near) else np.array([[0.0, 2.8, 0.5]])
    value, slope = clearance.penalty(near)
    assert value > 0.0
    for k in range(min(len(near), 5)):
        for j in range(3):
            step = np.zeros_like(near)
            step[k, j] = 1e-5
            difference = clearance.penalty(near + step)[0] - clearance.penalty(near - step)[0]
            scale = np.abs(slope).max()
            assert slope[k, j] == pytest.approx(difference / 2e-5, abs=1e-2 * scale)


def test_the_floor_is_under_the_base(tmp_path: Path) -> None:
    path = arm(tmp_path)
    clearance = Clearance(load_robot(path), path)
    pairs = [clearance.name(p) for p in range(len(clearance))]
    # A link that hangs on the base is its neighbour, the floor is not a link of the chain.
    assert 'two_0 and floor' in pairs
    assert 'base_0 and floor' not in pairs
    # The lowest point of the base ball is at -0.1; straight down, the last ball ends at -3.2.
    down = clearance.distances(np.array([[np.pi / 2, 0.0, 0.0]]))[0]
    assert down[pairs.index('three_0 and floor')] < 0.0
    level = clearance.distances(np.zeros((1, 3)))[0]
    assert level[pairs.index('two_0 and floor')] == pytest.approx(0.1 - 0.15, abs=1e-6)


def test_without_geometry_there_is_nothing_to_check(tmp_path: Path) -> None:
    path = arm(tmp_path, collisions=False)
    assert clearance_of(load_robot(path)) is None
    assert clearance_of(load_robot('tx40')) is not None


def test_a_missing_mesh_is_one_clear_line(tmp_path: Path) -> None:
    path = arm(tmp_path)
    text = path.read_text().replace('<sphere radius="0.1"/>', '<mesh filename="none.stl"/>', 1)
    path.write_text(text)
    with refused(DescriptionError, code='unreadable_geometry') as caught:
        Clearance(load_robot(path), path)
    assert '\n' not in str(caught.value)


def test_no_pair_of_the_tx40_is_left_out() -> None:
    clearance = clearance_of(load_robot('tx40'))
    assert clearance is not None
    assert clearance.notes == []
    links = ['base_link_0', *(f'link_{k}_0' for k in range(1, 7))]
    apart = [f'{a} and {b}' for i, a in enumerate(links) for b in links[i + 2 :]]
    assert set(apart) <= {clearance.name(p) for p in range(len(clearance))}


def test_postures_that_are_skipped_change_nothing() -> None:
    """A penalty that remembers what was clear is that of a fresh one, step after step."""
    robot = load_robot('tx40')
    clearance, rng = clearance_of(robot), np.random.default_rng(0)
    assert clearance is not None
    low, high = robot.limits.lower, robot.limits.upper
    q = rng.uniform(low, high, (60, 6))
    counted = []
    for size in (0.0, 0.01, 0.05, 0.2, 1.0):
        q = np.clip(q + size * rng.normal(size=q.shape), low, high)
        value, slope = clearance.penalty(q)
        fresh = clearance.copy()
        expected, expected_slope = fresh.penalty(q)
        # Distances are iterated from the last ones, to about 1e-7 m; the normals less well.
        assert value == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(slope, expected_slope, atol=1e-2 * np.abs(expected_slope).max())
        counted.append(value)
    assert max(counted) > 0.0


def test_no_distance_changes_faster_than_the_reach() -> None:
    robot = load_robot('tx40')
    clearance, rng = clearance_of(robot), np.random.default_rng(1)
    assert clearance is not None
    q = rng.uniform(robot.limits.lower, robot.limits.upper, (200, 6))
    step = 0.1 * rng.normal(size=q.shape)
    change = np.abs(clearance.distances(q + step) - clearance.distances(q))
    assert np.all(change <= np.abs(step) @ clearance.reach.T + 1e-6)
    # A pair does not feel the joints that carry both of its bodies.
    names = [clearance.name(p) for p in range(len(clearance))]
    felt = clearance.reach[names.index('link_2_0 and link_4_0')] > 0.0
    np.testing.assert_array_equal(felt, [False, False, True, True, False, False])


def test_a_single_joint_has_a_slope_too(tmp_path: Path) -> None:
    ball = SPHERE.format(x=1.0, r=0.1)
    path = tmp_path / 'one.urdf'
    path.write_text('\n'.join([
        '<robot name="one">', '<link name="base">', SPHERE.format(x=0.0, r=0.1), '</link>',
        JOINT.format(name='j1', parent='base', child='one', xyz='0 0 0.3'),
        LINK.format(name='one', collision=ball), '</robot>',
    ]))  # fmt: skip
    clearance = Clearance(load_robot(path), path, margin=0.2)
    q = np.array([[0.2]])
    value, slope = clearance.penalty(q)
    assert value > 0.0
    difference = clearance.penalty(q + 1e-5)[0] - clearance.penalty(q - 1e-5)[0]
    assert slope[0, 0] == pytest.approx(difference / 2e-5, rel=1e-3)


BOXES = """<robot name="arm">
 <link name="base"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
 <link name="one"><collision><origin xyz="0.2 0 0"/><geometry><box size="0.3 0.05 0.05"/>
 </geometry></collision>
 <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
 </inertial></link>
 <link name="two"><collision><origin xyz="0.2 0 0"/><geometry><box size="0.3 0.05 0.05"/>
 </geometry></collision>
 <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
 </inertial></link>
 <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
  <origin xyz="0 0 0.3"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
 <joint name="b" type="revolute"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/>
  <origin xyz="0.4 0 0"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
</robot>"""


def boxes(folder, **more):
    import yaml

    (folder / 'arm.urdf').write_text(BOXES)
    content = {'name': 'arm', 'urdf': 'arm.urdf', **more}
    (folder / 'arm.yaml').write_text(yaml.safe_dump(content))
    return load_robot(folder / 'arm.yaml')


def test_obstacles_tools_and_the_cell_are_kept_clear_of(tmp_path):
    wall = {'name': 'wall', 'box': [0.1, 2.0, 2.0], 'at': [1.0, 0.0, 0.0]}
    tool = {'name': 'tool', 'sphere': 0.05, 'on': 'two', 'at': [0.4, 0.0, 0.0]}
    (tmp_path / 'cell.urdf').write_text(
        '<robot name="cell"><link name="table"><collision><origin xyz="0 0 1"/><geometry>'
        '<box size="3 3 0.2"/></geometry></collision></link></robot>'
    )
    robot = boxes(tmp_path, obstacles=[wall, tool], world='cell.urdf')
    clearance = clearance_of(robot, floor=False)
    found = dict(zip(map(clearance.name, range(len(clearance))),
                     clearance.distances(np.zeros((1, 2)))[0]))  # fmt: skip
    # The tool ends at 0.4 + 0.4 + 0.05, the wall begins at 0.95; link two ends at 0.75.
    assert found['wall and tool'] == pytest.approx(0.10, abs=1e-6)
    assert found['two_0 and wall'] == pytest.approx(0.20, abs=1e-6)
    assert found['two_0 and world table_0'] == pytest.approx(0.9 - 0.325, abs=1e-6)


def test_an_srdf_disables_pairs(tmp_path):
    (tmp_path / 'arm.srdf').write_text(
        '<robot name="arm"><disable_collisions link1="two" link2="base" reason="Never"/></robot>'
    )
    assert len(clearance_of(boxes(tmp_path), floor=False)) == 1
    assert len(clearance_of(boxes(tmp_path, srdf='arm.srdf'), floor=False)) == 0


@pytest.mark.parametrize(
    ('name', 'pairs'),
    [('ur5', [('base_link', 'upper_arm_link'), ('wrist_1_link', 'wrist_3_link')])],
)
def test_links_that_are_always_close_are_named_and_left_out(name, pairs):
    from plants.mujoco_arms import ARMS, robots_folder

    folder = robots_folder()
    if folder is None:
        pytest.skip('example-robot-data is not installed')
    robot = load_robot(folder / ARMS[name][0])
    clearance = clearance_of(robot)
    names = [clearance.name(k) for k in range(len(clearance))]
    for one, other in pairs:
        assert any(one in note and other in note for note in clearance.notes)
        assert not any(one in each and other in each for each in names)
    # Half of all postures within the limits are free of collisions or nearly so.
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (200, 6))
    assert np.mean([clearance.keeps(posture[None]) for posture in q]) > 0.2


def test_a_hull_that_coal_refuses_is_held_by_a_coarser_one():
    # The apex of a cone over a fine circle has more neighbours than a hull may have.
    angle = np.linspace(0.0, 2.0 * np.pi, 1000, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    cone = np.concatenate([circle, [[0.0, 0.0, 1.0]]])
    shape = convex_hull(cone, 'cone')
    far = coal.Transform3s(np.eye(3), np.array([0.0, 0.0, 5.0]))
    ball, here = coal.Sphere(0.5), coal.Transform3s.Identity()
    distance = coal.distance(shape, here, ball, far, coal.DistanceRequest(), coal.DistanceResult())
    # Never farther than the cone is, and nearer by no more than a cell.
    assert 3.5 - 2.0 * 2.0 / CELLS < distance <= 3.5 + 1e-9


def test_stock_urdfs_are_read_as_they_are(tmp_path):
    """A gripper whose joint and link share a name is locked; a mesh of many faces has a hull."""
    from plants.mujoco_arms import make_stock_arm, robots_folder

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    so100 = load_robot(make_stock_arm('so100', tmp_path).robot_file)
    assert so100.n == 5
    assert 'gripper' in so100.kinematics.locked
    centauro = load_robot(make_stock_arm('centauro', tmp_path).robot_file)
    assert len(clearance_of(centauro)) > 0
