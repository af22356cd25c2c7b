"""Clearance: distances, their slopes, the floor, what touches by construction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from errors import refused

from robot_id.exceptions import DescriptionError
from robot_id.excitation.clearance import Clearance, clearance_of
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
