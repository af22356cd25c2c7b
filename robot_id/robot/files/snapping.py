"""
Rounded angles and lengths of a description, corrected to the exact values.

A URDF that says 1.5708 means pi/2. Taken literally, the rounding makes axes that are almost
parallel or almost perpendicular, and the search for base parameters finds some that do not exist:
their columns differ from a combination of others by the rounding only.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.robot.files.description import MdhRow
from robot_id.robot.kinematics import Kinematics

Array = NDArray[np.float64]

# rad: an angle this close to a multiple of pi/6 or pi/4 is that multiple.
ANGLE = 1e-4
# m: shorter lengths are zero.
LENGTH = 1e-6
# Components that axes between such angles have.
_COMPONENTS = np.array([0.0, 0.5, math.sqrt(0.5), math.sqrt(0.75), 1.0])


def snap_angle(angle: float) -> float:
    """Return the multiple of pi/6 or pi/4 next to an angle, or the angle if none is close."""
    for unit in (math.pi / 6.0, math.pi / 4.0):
        nearest = round(angle / unit) * unit
        if abs(angle - nearest) <= ANGLE:
            return nearest
    return angle


def snap_axis(axis: Array) -> Array:
    """(3,) -> (3,) a unit vector with exact components."""
    nearest = _COMPONENTS[np.abs(np.abs(axis)[:, None] - _COMPONENTS).argmin(axis=1)]
    if np.abs(np.abs(axis) - nearest).max() > ANGLE or abs(nearest @ nearest - 1.0) > 1e-9:
        return axis
    return np.copysign(nearest, axis) * (nearest > 0.0)


def snap_urdf(robot: ElementTree.Element) -> tuple[str, ...]:
    """Snap origin and axis of every joint tag in place; return a line for each that changed."""
    notes = []
    for joint in robot.findall('joint'):
        origin, name = joint.find('origin'), joint.get('name', '')
        if origin is not None:
            notes += _snap_numbers(origin, 'rpy', snap_angle, name)
            notes += _snap_numbers(origin, 'xyz', snap_length, name)
    return tuple(notes)


def snap_mdh(rows: tuple[MdhRow, ...]) -> tuple[MdhRow, ...]:
    """Snap the angles and lengths of a modified-DH table."""
    return tuple(
        row.model_copy(
            update={
                'alpha': snap_angle(row.alpha),
                'theta': snap_angle(row.theta),
                'd': snap_length(row.d),
                'r': snap_length(row.r),
            }
        )
        for row in rows
    )


def snap_length(length: float) -> float:
    """Return zero for a length below a micrometre."""
    return 0.0 if abs(length) <= LENGTH else length


def align_axes(kinematics: Kinematics) -> Kinematics:
    """
    Make axes that are almost parallel or perpendicular to that of their parent exactly so.

    The placement of the body turns by the smallest rotation that does it, 1e-4 rad at most.
    """
    rotation, notes = kinematics.rotation.copy(), list(kinematics.notes)
    for i, u in enumerate(kinematics.parent):
        if u < 0:
            continue
        own, other = rotation[i] @ kinematics.axis[i], kinematics.axis[u]
        along = float(own @ other)
        across = own - along * other
        if 0.0 < np.linalg.norm(across) <= ANGLE:
            wanted = math.copysign(1.0, along) * other
        elif 0.0 < abs(along) <= ANGLE:
            wanted = across / np.linalg.norm(across)
        else:
            continue
        turn = np.cross(own, wanted)
        if np.linalg.norm(turn) < 1e-15:
            continue
        rotation[i] = _small_rotation(turn) @ rotation[i]
        if np.linalg.norm(turn) > 1e-9:
            notes.append(
                f"joint '{kinematics.body_names[i]}': axis turned by {np.linalg.norm(turn):.1e} "
                f"rad against that of '{kinematics.body_names[u]}'"
            )
    return replace(kinematics, rotation=rotation, notes=tuple(notes))


def _small_rotation(turn: Array) -> Array:
    """(3,) axis times sine of a small angle -> (3, 3) rotation (Rodrigues)."""
    sine = float(np.linalg.norm(turn))
    x, y, z = turn
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + skew + (1.0 - math.sqrt(1.0 - sine**2)) / sine**2 * (skew @ skew)


def _snap_numbers(
    tag: ElementTree.Element, key: str, snap: Callable[[float], float], joint: str
) -> list[str]:
    text = tag.get(key)
    if text is None:
        return []
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return []
    snapped = [snap(value) for value in values]
    if snapped == values:
        return []
    tag.set(key, ' '.join(map(repr, snapped)))
    if max(abs(a - b) for a, b in zip(values, snapped)) < 1e-9:
        return []
    return [f"joint '{joint}': {key} '{text.strip()}' taken as '{_words(snapped)}'"]


def _words(values: list[float]) -> str:
    """Return numbers, multiples of pi as such."""

    def word(value: float) -> str:
        twelfths = value / (math.pi / 12.0)
        if value == 0.0 or abs(twelfths - round(twelfths)) > 1e-9:
            return f'{value:g}'
        shared = math.gcd(round(twelfths), 12)
        top, bottom = round(twelfths) // shared, 12 // shared
        sign, top = ('-' if top < 0 else ''), abs(top)
        return f'{sign}{"" if top == 1 else top}pi{"" if bottom == 1 else f"/{bottom}"}'

    return ' '.join(map(word, values))
