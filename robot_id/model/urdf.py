"""Kinematics from a URDF: fixed joints merged, locked joints frozen, mimic joints tied."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.model.inertia import inertia_row
from robot_id.model.kinematics import Kinematics
from robot_id.model.urdf_tags import JointTag, one_line, read_urdf

MOVING = ('revolute', 'continuous', 'prismatic')


def from_urdf(path: Path, locked: dict[str, float] | None = None) -> Kinematics:
    """
    Build the tree of a URDF.

    :param locked: joints that do not move, with their position.
    """
    text, joints = read_urdf(path)
    return _extract(path, _model(text, path, joints, locked or {}), joints)


def text_inertias(
    text: str, bodies: tuple[str, ...], path: Path, locked: dict[str, float]
) -> NDArray[np.float64]:
    """
    (nb, 10) inertial parameters of the bodies of a URDF's text, fixed joints merged.

    :param bodies: names of their joints.
    :param path: the file whose joints the text has, for errors.
    """
    _, joints = read_urdf(path)
    model = _model(text, path, joints, locked)
    return np.array([inertia_row(model.inertias[model.getJointId(name)]) for name in bodies])


def _model(
    text: str, path: Path, joints: dict[str, JointTag], locked: dict[str, float]
) -> pin.Model:
    """Return the pinocchio model of a text, with the locked joints frozen."""
    try:
        model = pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise DescriptionError(f'{path}: pinocchio cannot read it ({one_line(error)})') from error
    frozen = _all_locked(path, joints, list(model.names)[1:], locked)
    return _lock(model, frozen) if frozen else model


def _all_locked(
    path: Path, joints: dict[str, JointTag], moving: list[str], locked: dict[str, float]
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


def _extract(path: Path, model: pin.Model, joints: dict[str, JointTag]) -> Kinematics:
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


def _master(path: Path, joints: dict[str, JointTag], name: str) -> tuple[str, float, float]:
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
