"""Kinematics from a URDF: fixed joints merged, locked joints frozen, mimic joints tied."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.model.inertia import inertia_row
from robot_id.model.kinematics import Kinematics

Array = NDArray[np.float64]
MOVING = ('revolute', 'continuous', 'prismatic')


@dataclass(frozen=True)
class _Joint:
    """
    What we read of a joint tag ourselves.

    :param axis: (3,) unit vector.
    :param limits: (4,) lower, upper, velocity, effort; NaN where not given.
    :param mimic: master, multiplier and offset of a mimic joint.
    """

    type: str
    axis: Array
    limits: Array
    mimic: tuple[str, float, float] | None


def from_urdf(path: Path, locked: dict[str, float] | None = None) -> Kinematics:
    """
    Build the tree of a URDF.

    :param locked: joints that do not move, with their position.
    """
    text = _read(path)
    joints = _parse(path, text)
    try:
        model = pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise DescriptionError(f'{path}: pinocchio cannot read it ({_one_line(error)})') from error
    frozen = _all_locked(path, joints, list(model.names)[1:], locked or {})
    if frozen:
        model = _lock(model, frozen)
    return _extract(path, model, joints)


def _all_locked(
    path: Path, joints: dict[str, _Joint], moving: list[str], locked: dict[str, float]
) -> dict[str, float]:
    """Return the locked joints with those that mimic them."""
    for name in locked:
        if name not in moving:
            hint = did_you_mean(name, moving)
            raise DescriptionError(f"{path}: no moving joint '{name}' to lock, {hint}")
    frozen = dict(locked)
    for name in moving:
        mimic = joints[name].mimic
        if mimic is not None and name not in frozen:
            master, ratio, offset = _master(path, joints, name)
            if master in locked:
                frozen[name] = ratio * locked[master] + offset
    return frozen


def _extract(path: Path, model: pin.Model, joints: dict[str, _Joint]) -> Kinematics:
    names = list(model.names)[1:]
    if not names:
        raise DescriptionError(f'{path}: no moving joint')
    for name in names:
        joint = joints[name]
        if joint.type not in MOVING:
            raise DescriptionError(
                f"{path}: joint '{name}' is {joint.type}, only revolute, continuous, prismatic "
                "and fixed joints can be handled; put it under 'locked' of a robot file"
            )
        if not np.any(joint.axis):
            raise DescriptionError(f"{path}: joint '{name}' has a zero axis")
    independent = tuple(name for name in names if joints[name].mimic is None)
    nb = len(names)
    dof, ratio, offset = np.empty(nb, np.int64), np.ones(nb), np.zeros(nb)
    for i, name in enumerate(names):
        master, ratio[i], offset[i] = _master(path, joints, name)
        if master not in independent:
            raise DescriptionError(
                f"{path}: joint '{name}' mimics '{master}', which is not a moving joint"
            )
        dof[i] = independent.index(master)
    placements = [model.jointPlacements[i + 1] for i in range(nb)]
    return Kinematics(
        joint_names=independent,
        body_names=tuple(names),
        parent=np.array([model.parents[i + 1] - 1 for i in range(nb)], np.int64),
        rotation=np.array([placement.rotation for placement in placements]),
        translation=np.array([placement.translation for placement in placements]),
        axis=np.array([joints[name].axis for name in names]),
        prismatic=np.array([joints[name].type == 'prismatic' for name in names]),
        dof=dof,
        ratio=ratio,
        offset=offset,
        inertia=np.array([inertia_row(model.inertias[i + 1]) for i in range(nb)]),
        limits=np.array([joints[name].limits for name in independent]),
    )


def _master(path: Path, joints: dict[str, _Joint], name: str) -> tuple[str, float, float]:
    """Return the independent joint behind a joint: q = ratio * q_master + offset."""
    ratio, offset, seen = 1.0, 0.0, [name]
    while (mimic := joints[name].mimic) is not None:
        name, factor, shift = mimic
        ratio, offset = ratio * factor, offset + ratio * shift
        if name not in joints:
            hint = did_you_mean(name, joints)
            raise DescriptionError(f"{path}: joint '{seen[-1]}' mimics '{name}', {hint}")
        if name in seen:
            raise DescriptionError(f"{path}: joint '{name}' mimics itself")
        seen.append(name)
    return name, ratio, offset


def _lock(model: pin.Model, locked: dict[str, float]) -> pin.Model:
    q = pin.neutral(model)
    for name, value in locked.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = [math.cos(value), math.sin(value)]
        elif joint.nq == 1:
            q[joint.idx_q] = value
        elif value != 0.0:
            raise DescriptionError(f"locked: joint '{name}' has {joint.nq} positions, only 0 fits")
    return pin.buildReducedModel(model, [model.getJointId(name) for name in locked], q)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise DescriptionError(f'{path}: {error.strerror or error}') from error
    except UnicodeDecodeError as error:
        raise DescriptionError(f'{path}: not a text file') from error


def _parse(path: Path, text: str) -> dict[str, _Joint]:
    """Return the joint tags by name; masses are checked on the way."""
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DescriptionError(f'{path}: not XML ({_one_line(error)})') from error
    if robot.tag != 'robot':
        raise DescriptionError(f"{path}: not a URDF, its first tag is '{robot.tag}'")
    if 'xacro' in text and any('xacro' in element.tag for element in robot.iter()):
        raise DescriptionError(f'{path}: has xacro tags, expand them first: xacro {path.name}')
    for link in robot.findall('link'):
        place = f"{path}: link '{link.get('name', '')}'"
        for tag in link.iterfind('inertial/mass'):
            mass = _number(place, 'mass', tag.get('value', 'nan'))
            if not mass >= 0.0:
                raise DescriptionError(f'{place}: mass {mass:g} kg, it must not be negative')
    joints = {}
    for element in robot.findall('joint'):
        name = element.get('name', '')
        joints[name] = _joint(f"{path}: joint '{name}'", element)
    return joints


def _joint(place: str, element: ElementTree.Element) -> _Joint:
    kind = element.get('type', '')
    axis = np.array([1.0, 0.0, 0.0])
    if (tag := element.find('axis')) is not None:
        values = tag.get('xyz', '1 0 0').split()
        if len(values) != 3:
            raise DescriptionError(f'{place}: axis has {len(values)} numbers, not 3')
        axis = np.array([_number(place, 'axis', value) for value in values])
        axis /= np.linalg.norm(axis) or 1.0
    limits = np.full(4, np.nan)
    if (tag := element.find('limit')) is not None:
        for k, key in enumerate(('lower', 'upper', 'velocity', 'effort')):
            if tag.get(key) is not None:
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
    return _Joint(kind, axis, limits, mimic)


def _number(place: str, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise DescriptionError(f"{place}: {what} '{text}' is not a number") from error
    if not math.isfinite(value):
        raise DescriptionError(f"{place}: {what} '{text}' is not finite")
    return value


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split())[:200]
