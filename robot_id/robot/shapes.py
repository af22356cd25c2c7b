"""Inertias from the shapes of a URDF, for links without an inertial tag."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_id.robot.files.urdf import body_inertias
from robot_id.robot.files.urdf_tags import read_urdf

if TYPE_CHECKING:
    from robot_id.robot.robot import Robot

Array = NDArray[np.float64]
# Between a hollow aluminium casting and a gear box, kg/m^3.
DENSITY = 1500.0


def shape_inertias(robot: Robot) -> Array | None:
    """
    (nb, 10) inertial parameters of homogeneous shapes; zero rows where a link has none.

    Boxes, cylinders and spheres of the collision tags count, else those of the visual tags; meshes
    are not opened. None without a URDF.
    """
    if robot.urdf is None:
        return None
    text, _, _ = read_urdf(robot.urdf, robot.description.snap)
    root = ElementTree.fromstring(text)
    for link in root.findall('link'):
        for old in link.findall('inertial'):
            link.remove(old)
        bodies = _bodies(link, 'collision') or _bodies(link, 'visual')
        if bodies:
            link.append(_inertial(bodies))
    text = ElementTree.tostring(root, encoding='unicode')
    kinematics = robot.kinematics
    return body_inertias(text, robot.urdf, kinematics.body_names, dict(kinematics.locked))


def _bodies(link: ElementTree.Element, kind: str) -> list[tuple[float, Array, Array]]:
    """Return mass, centre and (3, 3) inertia about the centre of every primitive shape."""
    found = []
    for element in link.findall(kind):
        shape = element.find('geometry')
        primitive = None if shape is None or not len(shape) else _primitive(shape[0])
        if primitive is None:
            continue
        m, moments = primitive
        origin = element.find('origin')
        xyz = _three(origin, 'xyz')
        R = _rotation(_three(origin, 'rpy'))
        found.append((m, xyz, R @ np.diag(moments) @ R.T))
    return found


def _primitive(shape: ElementTree.Element) -> tuple[float, Array] | None:
    """Return mass and principal moments of a homogeneous shape."""
    try:
        if shape.tag == 'box':
            a, b, c = (float(x) for x in shape.get('size', '').split())
            m = DENSITY * a * b * c
            return m, m / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        r = float(shape.get('radius', 'nan'))
        if shape.tag == 'sphere':
            m = DENSITY * 4.0 / 3.0 * math.pi * r**3
            return m, np.full(3, 0.4 * m * r * r)
        length = float(shape.get('length', 'nan'))
        if shape.tag in ('cylinder', 'capsule'):
            m = DENSITY * math.pi * r * r * length
            across = m * (3.0 * r * r + length**2) / 12.0
            return m, np.array([across, across, 0.5 * m * r * r])
    except ValueError:
        pass
    return None


def _inertial(bodies: list[tuple[float, Array, Array]]) -> ElementTree.Element:
    mass = sum(m for m, _, _ in bodies)
    centre = np.sum([m * c for m, c, _ in bodies], axis=0) / mass
    tensor = np.zeros((3, 3))
    for m, c, about in bodies:
        d = c - centre
        tensor += about + m * (d @ d * np.eye(3) - np.outer(d, d))
    inertial = ElementTree.Element('inertial')
    ElementTree.SubElement(inertial, 'mass', value=repr(float(mass)))
    ElementTree.SubElement(inertial, 'origin', xyz=' '.join(repr(float(x)) for x in centre))
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    values = tensor[np.triu_indices(3)]
    entries = {key: repr(float(x)) for key, x in zip(keys, values)}
    ElementTree.SubElement(inertial, 'inertia', entries)
    return inertial


def _three(element: ElementTree.Element | None, key: str) -> Array:
    text = '0 0 0' if element is None else element.get(key, '0 0 0')
    values = [float(x) for x in text.split()]
    return np.array(values if len(values) == 3 else [0.0, 0.0, 0.0])


def _rotation(rpy: Array) -> Array:
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
