"""The part of a URDF that is read here, with errors that name the tag."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError
from robot_id.model.snapping import snap_axis, snap_urdf
from robot_id.model.urdf_checks import check_links, check_numbers, number

Array = NDArray[np.float64]

# Larger files are damaged or not robots.
LARGEST_FILE = 64 << 20
DEEPEST_TAGS, MOST_TAGS = 100, 200_000


@dataclass(frozen=True)
class JointTag:
    """
    One joint tag.

    :param axis: (3,) unit vector.
    :param limits: (4,) lower, upper, velocity, effort; NaN where not given.
    :param mimic: master, multiplier and offset of a mimic joint.
    """

    type: str
    axis: Array
    limits: Array
    mimic: tuple[str, float, float] | None


class _Tree(ElementTree.TreeBuilder):
    """Builds the tree of a file and stops where it is too deep or too large."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ElementTree.Element:
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST_TAGS:
            raise DescriptionError(f'tags are nested more than {DEEPEST_TAGS} deep')
        if self._count > MOST_TAGS:
            raise DescriptionError(f'it has more than {MOST_TAGS} tags')
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        self._depth -= 1
        return super().end(tag)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DescriptionError(f'{path}: more than {LARGEST_FILE >> 20} MB, too large')
        return path.read_text(encoding='utf-8-sig')
    except OSError as error:
        raise DescriptionError(f'{path}: {error.strerror or error}') from error
    except UnicodeDecodeError as error:
        raise DescriptionError(f'{path}: not a text file') from error


def read_urdf(path: Path, snap: bool = True) -> tuple[str, dict[str, JointTag], tuple[str, ...]]:
    """
    Return the text for pinocchio, the joints by name, and a line for each number that was snapped.

    :param snap: correct angles and lengths to the exact values (see snapping.py).
    """
    text = _read(path)
    try:
        robot = ElementTree.fromstring(text, ElementTree.XMLParser(target=_Tree()))
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error
    except (ElementTree.ParseError, ValueError) as error:
        raise DescriptionError(f'{path}: not XML ({one_line(error)})') from error
    if re.search(r'<robot[\s>]', text):
        _leave_default_namespace(robot)
    if robot.tag != 'robot':
        raise DescriptionError(f"{path}: not a URDF, its first tag is '{robot.tag}'")
    if any('xacro' in element.tag for element in robot.iter()):
        raise DescriptionError(f'{path}: has xacro tags, expand them first: xacro {path.name}')
    check_links(path, robot)
    check_numbers(path, robot)
    notes = snap_urdf(robot) if snap else ()
    joints = {}
    for element in robot.findall('joint'):
        name = element.get('name', '')
        if name in joints:
            raise DescriptionError(f"{path}: joint '{name}' appears more than once", joint=name)
        joints[name] = _joint(f"{path}: joint '{name}'", element, snap)
    return ElementTree.tostring(robot, encoding='unicode'), joints, notes


def _leave_default_namespace(robot: ElementTree.Element) -> None:
    """Take `xmlns` of the robot tag out of all tags; readers of URDF do not know namespaces."""
    space, found, _ = robot.tag.rpartition('}')
    for element in robot.iter() if found else ():
        element.tag = element.tag.removeprefix(space + found)


def _joint(place: str, element: ElementTree.Element, snap: bool) -> JointTag:
    kind = element.get('type', '')
    axis = np.array([1.0, 0.0, 0.0])
    if (tag := element.find('axis')) is not None:
        values = tag.get('xyz', '1 0 0').split()
        if len(values) != 3:
            raise DescriptionError(f'{place}: axis has {len(values)} numbers, not 3')
        axis = np.array([number(place, 'axis', value) for value in values])
        axis /= np.linalg.norm(axis) or 1.0
        axis = snap_axis(axis) if snap else axis
    limits = np.full(4, np.nan)
    tag = element.find('limit')
    if tag is None and kind in ('revolute', 'prismatic'):
        tag = ElementTree.SubElement(element, 'limit')
    if tag is not None:
        for k, key in enumerate(('lower', 'upper', 'velocity', 'effort')):
            # pinocchio needs limits; those that are not given become zero.
            tag.set(key, tag.get(key, '0'))
            limits[k] = number(place, f'limit {key}', tag.get(key, ''))
        # Zeros are what exporters write for 'unknown'.
        if kind == 'continuous' or not limits[0] < limits[1]:
            limits[:2] = np.nan
        limits[2:][limits[2:] <= 0.0] = np.nan
    mimic = None
    if (tag := element.find('mimic')) is not None:
        if tag.get('joint') is None:
            raise DescriptionError(f'{place}: the mimic tag names no joint')
        ratio = number(place, 'mimic multiplier', tag.get('multiplier', '1'))
        offset = number(place, 'mimic offset', tag.get('offset', '0'))
        mimic = (tag.get('joint', ''), ratio, offset)
    return JointTag(kind, axis, limits, mimic)


def one_line(error: Exception) -> str:
    return ' '.join(str(error).split())[:200]
