"""Checks of a URDF before pinocchio sees it: a tree of links, with numbers a robot can have."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.texts import LONGEST_NAME, is_line

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
