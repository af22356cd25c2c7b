"""What we read of a URDF ourselves, with mistakes that name the tag."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.model.snapping import snap_axis, snap_urdf

Array = NDArray[np.float64]


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


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise DescriptionError(f'{path}: {error.strerror or error}') from error
    except UnicodeDecodeError as error:
        raise DescriptionError(f'{path}: not a text file') from error


def read_urdf(path: Path, snap: bool = True) -> tuple[str, dict[str, JointTag], tuple[str, ...]]:
    """
    Return the text for pinocchio, the joints by name, and a line for each number that was snapped.

    :param snap: take angles and lengths as what they obviously mean (see snapping.py).
    """
    text = _read(path)
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DescriptionError(f'{path}: not XML ({one_line(error)})') from error
    if robot.tag != 'robot':
        raise DescriptionError(f"{path}: not a URDF, its first tag is '{robot.tag}'")
    if any('xacro' in element.tag for element in robot.iter()):
        raise DescriptionError(f'{path}: has xacro tags, expand them first: xacro {path.name}')
    _check_links(path, robot)
    notes = snap_urdf(robot) if snap else ()
    joints = {}
    for element in robot.findall('joint'):
        name = element.get('name', '')
        if name in joints:
            raise DescriptionError(f"{path}: joint '{name}' appears more than once")
        joints[name] = _joint(f"{path}: joint '{name}'", element, snap)
    return ElementTree.tostring(robot, encoding='unicode'), joints, notes


def _check_links(path: Path, robot: ElementTree.Element) -> None:
    """Refuse negative masses, joints between links that do not exist, and more than one root."""
    links = [link.get('name', '') for link in robot.findall('link')]
    for link in robot.findall('link'):
        place = f"{path}: link '{link.get('name', '')}'"
        for tag in link.iterfind('inertial/mass'):
            mass = _number(place, 'mass', tag.get('value', 'nan'))
            if mass < 0.0:
                raise DescriptionError(f'{place}: mass {mass:g} kg, it must not be negative')
    roots = list(links)
    for joint in robot.findall('joint'):
        place = f"{path}: joint '{joint.get('name', '')}'"
        for end in ('parent', 'child'):
            found = joint.find(end)
            name = '' if found is None else found.get('link', '')
            if name not in links:
                raise DescriptionError(
                    f"{place}: its {end} '{name}' is not a link, {did_you_mean(name, links)}"
                )
            if end == 'child' and name not in roots:
                raise DescriptionError(f"{place}: link '{name}' is the child of two joints")
            if end == 'child':
                roots.remove(name)
    if len(roots) != 1:
        names = ', '.join(roots) or 'none'
        raise DescriptionError(f'{path}: one link must have no parent, here: {names}')


def _joint(place: str, element: ElementTree.Element, snap: bool) -> JointTag:
    kind = element.get('type', '')
    axis = np.array([1.0, 0.0, 0.0])
    if (tag := element.find('axis')) is not None:
        values = tag.get('xyz', '1 0 0').split()
        if len(values) != 3:
            raise DescriptionError(f'{place}: axis has {len(values)} numbers, not 3')
        axis = np.array([_number(place, 'axis', value) for value in values])
        axis /= np.linalg.norm(axis) or 1.0
        axis = snap_axis(axis) if snap else axis
    limits = np.full(4, np.nan)
    tag = element.find('limit')
    if tag is None and kind in ('revolute', 'prismatic'):
        tag = ElementTree.SubElement(element, 'limit')
    if tag is not None:
        for k, key in enumerate(('lower', 'upper', 'velocity', 'effort')):
            # pinocchio insists on limits; what is not given becomes a zero.
            tag.set(key, tag.get(key, '0'))
            limits[k] = _number(place, f'limit {key}', tag.get(key, ''))
        # Zeros are what exporters write for 'unknown'.
        if kind == 'continuous' or not limits[0] < limits[1]:
            limits[:2] = np.nan
        limits[2:][limits[2:] <= 0.0] = np.nan
    mimic = None
    if (tag := element.find('mimic')) is not None:
        if tag.get('joint') is None:
            raise DescriptionError(f'{place}: the mimic tag names no joint')
        ratio = _number(place, 'mimic multiplier', tag.get('multiplier', '1'))
        offset = _number(place, 'mimic offset', tag.get('offset', '0'))
        mimic = (tag.get('joint', ''), ratio, offset)
    return JointTag(kind, axis, limits, mimic)


def _number(place: str, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise DescriptionError(f"{place}: {what} '{text}' is not a number") from error
    if not math.isfinite(value):
        raise DescriptionError(f"{place}: {what} '{text}' is not finite")
    return value


def one_line(error: Exception) -> str:
    return ' '.join(str(error).split())[:200]
