"""The units of parameters, by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from robot_id.robot.friction.registry import COLUMNS

if TYPE_CHECKING:
    from robot_id.robot.robot import Robot

_FRICTION = {
    name.format(''): term.unit
    for term, column in COLUMNS
    for name in (column.name, column.motor or column.name)
}


def unit_of(name: str, slides: bool = False) -> str:
    """
    Return the unit of a standard parameter, such as 'kg.m2' of ZZ3; '' for one without.

    :param slides: its joint is prismatic.
    """
    stem = re.sub(r'\d+', '', name)
    if stem in _FRICTION:
        unit = _FRICTION[stem]
        return unit.replace('N.m', 'N').replace('rad', 'm') if slides else unit
    if stem == 'M':
        return 'kg'
    if stem in ('MX', 'MY', 'MZ'):
        return 'kg.m'
    if stem == 'Ia':
        return 'kg' if slides else 'kg.m2'
    return 'kg.m2' if re.fullmatch('[XYZ]{2}', stem) else ''


def units_of(robot: Robot) -> tuple[str, ...]:
    """Return the unit of each base parameter, as of the standard one that names it."""
    base, renamed = robot.base, robot.description.renamed
    scaled = {alias.name: alias.unit for alias in renamed.values() if alias.unit is not None}
    own = standard_units(robot)
    return tuple(
        scaled.get(name, own[column]) for name, column in zip(base.names, base.columns.tolist())
    )


def standard_units(robot: Robot) -> tuple[str, ...]:
    """Return the unit of each standard parameter."""
    slides = robot.prismatic.tolist()
    return tuple(unit_of(name, _number(name, slides)) for name in robot.standard_names)


def torque_units(robot: Robot) -> tuple[str, ...]:
    """Return the unit of each joint's torque."""
    return tuple('N' if slides else 'N.m' for slides in robot.prismatic)


def position_units(robot: Robot) -> tuple[str, ...]:
    """Return the unit of each joint's position."""
    return tuple('m' if slides else 'rad' for slides in robot.prismatic)


def _number(name: str, slides: Sequence[bool]) -> bool:
    found = re.search(r'\d+', name)
    j = int(found[0]) - 1 if found else -1
    return 0 <= j < len(slides) and slides[j]
