"""The part of a URDF that is read here, with errors that name the tag."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.files.snapping import snap_axis, snap_urdf
from robot_id.texts import LONGEST_NAME, is_line

Array = NDArray[np.float64]
# Larger files are damaged or not robots.
LARGEST_FILE = 64 << 20
DEEPEST_TAGS, MOST_TAGS = 100, 200_000
# Deep trees overflow the stack of a parser.
DEEPEST_LINKS, MOST_LINKS = 500, 5000
# No length, mass or inertia of a robot is larger; limits are sometimes written as 1e10.
LARGEST, LARGEST_LIMIT = 1e9, 1e15


def check_links(path: Path, robot: ElementTree.Element) -> None:
    """Refuse negative masses, joints between links that do not exist, and more than one root."""
    links = [link.get('name', '') for link in robot.findall('link')]
    if len(links) > MOST_LINKS:
        raise DescriptionError(f'{path}: {len(links)} links, at most {MOST_LINKS} are read')
    for kind in ('link', 'joint'):
        for named in robot.findall(kind):
            name = named.get('name', '')
            if not is_line(name, LONGEST_NAME):
                raise DescriptionError(
                    f'{path}: {kind} {name!r}: its name must have at most {LONGEST_NAME} '
                    'characters, all printable'
                )
    for link in robot.findall('link'):
        place = f"{path}: link '{link.get('name', '')}'"
        for tag in link.iterfind('inertial/mass'):
            mass = number(place, 'mass', tag.get('value', 'nan'))
            if mass < 0.0:
                raise DescriptionError(f'{place}: mass {mass:g} kg, it must not be negative')
    parents = _parents(path, robot, set(links))
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        names = ', '.join(roots) or 'none'
        raise DescriptionError(f'{path}: one link must have no parent, here: {names}')
    _check_tree(path, parents, roots[0])


def _parents(path: Path, robot: ElementTree.Element, links: set[str]) -> dict[str, str]:
    """Return the parent of each link that has one."""
    parents: dict[str, str] = {}
    for joint in robot.findall('joint'):
        place = f"{path}: joint '{joint.get('name', '')}'"
        ends = {}
        for end in ('parent', 'child'):
            found = joint.find(end)
            ends[end] = name = '' if found is None else found.get('link', '')
            if name not in links:
                raise DescriptionError(
                    f"{place}: its {end} '{name}' is not a link, {did_you_mean(name, links)}"
                )
        if ends['child'] in parents:
            raise DescriptionError(f"{place}: link '{ends['child']}' is the child of two joints")
        parents[ends['child']] = ends['parent']
    return parents


def _check_tree(path: Path, parents: dict[str, str], root: str) -> None:
    """Refuse links in a closed loop, and chains that are too long for a parser's stack."""
    depth = {root: 0}
    for link in parents:
        chain: list[str] = []
        while link not in depth and len(chain) <= len(parents):
            chain.append(link)
            link = parents[link]
        if link not in depth:
            raise DescriptionError(f"{path}: link '{chain[0]}' is in a loop, not on the tree")
        for each in reversed(chain):
            depth[each] = depth[parents[each]] + 1
            if depth[each] > DEEPEST_LINKS:
                raise DescriptionError(
                    f"{path}: link '{each}' ends a chain of more than {DEEPEST_LINKS} links"
                )


def check_numbers(path: Path, robot: ElementTree.Element) -> None:
    """Refuse numbers that are not finite or beyond any robot, where dynamics come from."""
    for kind, tags in (('link', ('inertial/origin', 'inertial/inertia', 'inertial/mass')),
                       ('joint', ('origin',))):  # fmt: skip
        for element in robot.findall(kind):
            place = f"{path}: {kind} '{element.get('name', '')}'"
            for tag in (found for each in tags for found in element.iterfind(each)):
                for key, text in tag.attrib.items():
                    for word in text.split():
                        number(place, f'{tag.tag} {key}', word, LARGEST)


def number(place: str, what: str, text: str, largest: float = LARGEST_LIMIT) -> float:
    """Read a number of a tag; refuse one that is invalid or beyond any robot."""
    try:
        value = float(text)
    except ValueError as error:
        raise DescriptionError(f"{place}: {what} '{text}' is not a number") from error
    if not math.isfinite(value):
        raise DescriptionError(f"{place}: {what} '{text}' is not finite")
    if abs(value) > largest:
        raise DescriptionError(f"{place}: {what} '{text}' is beyond {largest:g}")
    return value


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
