"""
An SDF model as a pinocchio model: links, joints, inertias and joint dynamics; shapes are not read.

Frames follow SDFormat 1.7 and later: a link's pose is relative to its model, a joint's to its
child link, unless `relative_to` names another link or joint; the axis lies in the joint's frame.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from robot_id.exceptions import DescriptionError
from robot_id.robot.files.urdf_tags import one_line

_KINDS = {
    'revolute': pin.JointModelRevoluteUnaligned,
    'continuous': pin.JointModelRevoluteUnaligned,
    'prismatic': pin.JointModelPrismaticUnaligned,
}


@dataclass(frozen=True)
class SdfModel:
    """
    The content of the file.

    :param model: one scalar joint for each joint that moves.
    :param dynamics: joint -> damping and friction.
    """

    model: pin.Model
    dynamics: dict[str, tuple[float, float]]


def read_sdf(path: Path) -> SdfModel:
    """Return the first model of an SDF file."""
    try:
        root = ElementTree.parse(path).getroot()
        model = root if root.tag == 'model' else root.find('.//model')
        if model is None:
            raise DescriptionError(f"{path}: no 'model' tag")
        return _Reader(path, model).read()
    except (ElementTree.ParseError, OSError) as error:
        raise DescriptionError(f'{path}: not XML ({one_line(error)})') from error
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f'{path}: cannot be read as SDF ({one_line(error)})') from error


class _Reader:
    def __init__(self, path: Path, model: ElementTree.Element) -> None:
        self.path = path
        self.links = {link.get('name', ''): link for link in model.findall('link')}
        self.joints = {joint.get('name', ''): joint for joint in model.findall('joint')}
        self.found = pin.Model()
        self.dynamics: dict[str, tuple[float, float]] = {}

    def read(self) -> SdfModel:
        """Walk the tree from the links that no joint carries, or that hang on the world."""
        carried = {
            _text(j, 'child') for j in self.joints.values() if _text(j, 'parent') in self.links
        }
        roots = [name for name in self.links if name not in carried]
        for name in roots:
            self._add(name, 0, self._place(name))
        return SdfModel(self.found, self.dynamics)

    def _add(self, link: str, joint: int, frame: pin.SE3) -> None:
        """Attach a link to a joint whose frame at zero is known, then all that it carries."""
        place = self._place(link)
        body = _inertia(self.links[link])
        if body is not None:
            self.found.appendBodyToJoint(joint, body, frame.actInv(place))
        for name, tag in self.joints.items():
            if _text(tag, 'parent') != link:
                continue
            kind = tag.get('type', '')
            if kind == 'fixed':
                self._add(_text(tag, 'child'), joint, frame)
                continue
            if kind not in _KINDS:
                raise DescriptionError(
                    f"{self.path}: joint '{name}' is {kind}, which is not supported", joint=name
                )
            own = self._place(name)
            axis = tag.find('axis')
            a = _numbers(None if axis is None else axis.find('xyz'), 3, (0.0, 0.0, 1.0))
            within = None if axis is None else axis.find('xyz')
            other = '' if within is None else within.get('expressed_in', '')
            if other:
                a = own.rotation.T @ self._place(other).rotation @ a
            number = self.found.addJoint(
                joint, _KINDS[kind](a / np.linalg.norm(a)), frame.actInv(own), name
            )
            self.dynamics[name] = (
                _number(axis, 'dynamics/damping'), _number(axis, 'dynamics/friction')
            )  # fmt: skip
            self._add(_text(tag, 'child'), number, own)

    def _place(self, name: str, seen: tuple[str, ...] = ()) -> pin.SE3:
        """Return the pose of a link or joint in the model when all joints are at zero."""
        if name in ('', '__model__', 'world'):
            return pin.SE3.Identity()
        tag = self.links.get(name, self.joints.get(name))
        if tag is None or name in seen:
            raise DescriptionError(f"{self.path}: no frame '{name}', or it refers to itself")
        pose = tag.find('pose')
        below = _text(tag, 'child') if name in self.joints else ''
        other = below if pose is None else pose.get('relative_to', below)
        return self._place(other, (*seen, name)) * _pose(pose)


def _text(tag: ElementTree.Element, key: str) -> str:
    return (tag.findtext(key) or '').strip()


def _numbers(
    tag: ElementTree.Element | None, count: int, default: tuple[float, ...]
) -> np.ndarray:
    words = [] if tag is None else (tag.text or '').split()
    if words and len(words) != count:
        raise ValueError(f"'{tag.tag if tag is not None else ''}' needs {count} numbers")
    return np.array([float(word) for word in words] if words else default)


def _number(tag: ElementTree.Element | None, key: str, default: float = 0.0) -> float:
    found = None if tag is None else tag.findtext(key)
    return float(found) if found else default


def _pose(pose: ElementTree.Element | None) -> pin.SE3:
    values = _numbers(pose, 6, (0.0,) * 6)
    return pin.SE3(pin.rpy.rpyToMatrix(values[3:]), values[:3])


def _inertia(link: ElementTree.Element) -> pin.Inertia | None:
    """Return the body of a link in its frame; None for one without a mass."""
    inertial = link.find('inertial')
    m = _number(inertial, 'mass')
    if inertial is None or m <= 0.0:
        return None
    xx, yy, zz = (_number(inertial, f'inertia/i{k}{k}', 1.0) for k in 'xyz')
    xy, xz, yz = (_number(inertial, f'inertia/{k}') for k in ('ixy', 'ixz', 'iyz'))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return pin.Inertia(m, np.zeros(3), tensor).se3Action(_pose(inertial.find('pose')))
