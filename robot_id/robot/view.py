"""How a robot looks: its shapes, and where they are at a position of the joints."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.robot.files.urdf import load_model
from robot_id.robot.files.urdf_tags import read_urdf
from robot_id.robot.robot import Robot

Array = NDArray[np.float64]
# Sides of a body without mass, m.
SMALLEST = 0.02
MESHES = ('.stl',)


@dataclass(frozen=True)
class Shape:
    """
    One shape of a body.

    :param kind: 'box' (three sides), 'cylinder' (radius, length along z), 'sphere' (radius) or
        'mesh' (three scales).
    :param body: number of the body that carries it, -1 for the base.
    :param rotation: (3, 3) in the frame of the body.
    :param translation: (3,) m.
    """

    kind: str
    size: tuple[float, ...]
    body: int
    rotation: Array
    translation: Array
    file: str = ''


class View:
    """
    The shapes of a robot and its forward kinematics.

    :param robot: shapes are the visual ones of its URDF that are primitives or STL files; of a
        link without one the collision shapes, of a body without any a box of its mass and
        inertia. Obstacles of the robot file are drawn but for planes.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._model = robot.pinocchio
        self._data = self._model.createData()
        self._A = robot.kinematics.expansion()
        self.shapes = _of_links(robot)
        drawn = {shape.body for shape in self.shapes}
        bodies = range(len(robot.kinematics.parent))
        self.shapes += [_inertia_box(robot, i) for i in bodies if i not in drawn]
        self.shapes += _obstacles(robot)

    def poses(self, q: Array) -> tuple[Array, Array]:
        """
        Return where the bodies are.

        :param q: (n,) rad or m.
        :return: (nb, 3, 3) rotations and (nb, 3) positions in the base.
        """
        pin.forwardKinematics(self._model, self._data, self._A @ q + self.robot.kinematics.offset)
        placed = list(self._data.oMi)[1:]
        return (
            np.array([each.rotation for each in placed]),
            np.array([each.translation for each in placed]),
        )

    def placed(self, q: Array) -> list[tuple[Array, Array]]:
        """Return rotation and translation of every shape in the base."""
        R, p = self.poses(q)
        found = []
        for shape in self.shapes:
            if shape.body < 0:
                found.append((shape.rotation, shape.translation))
                continue
            own = R[shape.body]
            place = own @ shape.translation + p[shape.body]
            found.append((own @ shape.rotation, place))
        return found

    def reach(self) -> float:
        """Return the length of the chain at its longest, m."""
        steps = np.linalg.norm(self.robot.kinematics.translation, axis=1)
        return float(np.sum(steps)) or 1.0


def _inertia_box(robot: Robot, i: int) -> Shape:
    """Return the homogeneous box with a body's mass, centre and inertia."""
    inertia = robot.pinocchio.inertias[i + 1]
    mass = float(inertia.mass)
    if not mass > 0.0:
        return Shape('box', (SMALLEST,) * 3, i, np.eye(3), np.zeros(3))
    moments, axes = np.linalg.eigh(np.array(inertia.inertia))
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)
    sides = np.clip(np.sqrt(np.maximum(squares, 0.0)), SMALLEST, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return Shape('box', tuple(sides.tolist()), i, axes, np.array(inertia.lever))


def _of_links(robot: Robot) -> list[Shape]:
    """Return the shapes of the URDF that can be drawn, the visual ones of a link if there are."""
    if robot.urdf is None:
        return []
    root = ElementTree.fromstring(read_urdf(robot.urdf, robot.description.snap)[0])
    carried = _links(robot, [link.get('name', '') for link in root.findall('link')])
    found: list[Shape] = []
    for link in root.findall('link'):
        if link.get('name', '') not in carried:
            continue
        body, placement = carried[link.get('name', '')]
        for tag in ('visual', 'collision'):
            read = [_shape(each, placement, body, robot.urdf) for each in link.findall(tag)]
            if drawn := [shape for shape in read if shape is not None]:
                found += drawn
                break
    return found


def _links(robot: Robot, names: Iterable[str]) -> dict[str, tuple[int, pin.SE3]]:
    """Return the body and the placement on it of those links that its URDF has."""
    if robot.urdf is None:
        return {}
    kinematics = robot.kinematics
    model = load_model(robot.urdf, dict(kinematics.locked), robot.description.snap)
    found = {}
    for name in names:
        if model.existFrame(name):
            frame = model.frames[model.getFrameId(name)]
            joint = model.names[frame.parentJoint]
            body = kinematics.body_names.index(joint) if joint in kinematics.body_names else -1
            found[name] = body, frame.placement
    return found


def _obstacles(robot: Robot) -> list[Shape]:
    """Return the obstacles and tools of the robot file."""
    known = robot.description.obstacles
    carried = _links(robot, [each.on for each in known if each.on is not None]) if known else {}
    found = []
    for each in known:
        kind = 'box' if each.box else 'cylinder' if each.cylinder else 'sphere'
        size = each.box or each.cylinder or ((each.sphere,) if each.sphere else None)
        if size is None or (each.on is not None and each.on not in carried):
            continue
        body, carrier = (-1, pin.SE3.Identity()) if each.on is None else carried[each.on]
        here = carrier * pin.SE3(pin.rpy.rpyToMatrix(*each.rpy), np.array(each.at))
        found.append(Shape(kind, size, body, here.rotation.copy(), here.translation.copy()))
    return found


def _shape(given: ElementTree.Element, placement: pin.SE3, body: int, urdf: Path) -> Shape | None:
    geometry = given.find('geometry')
    tag = geometry[0] if geometry is not None and len(geometry) else None
    if tag is None:
        return None
    origin = given.find('origin')
    xyz, rpy = (_three(origin, key) for key in ('xyz', 'rpy'))
    here = placement * pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)
    file, kind = '', tag.tag
    try:
        if kind == 'box':
            size = tuple(float(x) for x in tag.get('size', '').split())
        elif kind == 'cylinder':
            size = (float(tag.get('radius', '')), float(tag.get('length', '')))
        elif kind == 'sphere':
            size = (float(tag.get('radius', '')),)
        elif kind == 'mesh':
            size = tuple(float(x) for x in tag.get('scale', '1 1 1').split())
            file = _mesh_file(tag.get('filename', ''), urdf)
            if not file:
                return None
        else:
            return None
    except ValueError:
        return None
    return Shape(kind, size, body, here.rotation.copy(), here.translation.copy(), file)


def _three(origin: ElementTree.Element | None, key: str) -> Array:
    text = '0 0 0' if origin is None else origin.get(key, '0 0 0')
    return np.array([float(x) for x in text.split()])


def _mesh_file(name: str, urdf: Path) -> str:
    """Return the STL file of a mesh below the folder of the URDF or beside it, '' without one."""
    tail = name.removeprefix('file://').removeprefix('package://')
    if not tail.lower().endswith(MESHES):
        return ''
    parts = Path(tail).parts
    for base in (urdf.parent, *urdf.parents[1:4]):
        for k in range(len(parts)):
            path = base.joinpath(*parts[k:])
            if path.is_file():
                return str(path)
    return ''
