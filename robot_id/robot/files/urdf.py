"""Kinematics from a URDF: fixed joints merged, locked joints frozen, mimic joints tied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.files.snapping import align_axes
from robot_id.robot.files.urdf_tags import JointTag, one_line, read_urdf
from robot_id.robot.kinematics import Kinematics
from robot_id.robot.parameters.inertia import inertia_row

MOVING = ('revolute', 'continuous', 'prismatic')


def from_urdf(
    path: Path,
    locked: dict[str, float] | Literal['others'] | None = None,
    free: tuple[str, ...] = (),
    snap: bool = True,
) -> Kinematics:
    """
    Build the tree of a URDF.

    :param locked: joints that do not move, with their position; 'others': all but the free ones.
    :param free: joints that move.
    :param snap: correct rounded angles and axes to the exact values.
    """
    text, joints, notes = read_urdf(path, snap)
    model = _model(text, path)
    moving = list(model.names)[1:]
    if locked == 'others':
        locked = _others(joints, moving, free)
    frozen = _all_locked(path, joints, moving, locked or {})
    if frozen:
        model = lock_joints(model, frozen)
    found = replace(_extract(path, model, joints), locked=frozen, notes=notes)
    return align_axes(found) if snap else found


def body_inertias(
    text: str, path: Path, bodies: tuple[str, ...], frozen: dict[str, float]
) -> NDArray[np.float64]:
    """
    (nb, 10) inertial parameters of the bodies in a URDF's text, fixed joints merged.

    :param path: for errors.
    :param bodies: names of the joints that carry them.
    :param frozen: all joints that do not move, with their positions.
    """
    model = _model(text, path)
    model = lock_joints(model, frozen) if frozen else model
    return np.array([inertia_row(model.inertias[model.getJointId(name)]) for name in bodies])


def load_model(path: Path, frozen: dict[str, float], snap: bool = True) -> pin.Model:
    """
    Return a URDF as pinocchio reads it, with its own inertias and joint dynamics.

    :param frozen: all joints that do not move, with their positions.
    """
    model = _model(read_urdf(path, snap)[0], path)
    return lock_joints(model, frozen) if frozen else model


def joint_friction(
    path: Path, joints: tuple[str, ...], frozen: Mapping[str, float], snap: bool = True
) -> dict[str, float]:
    """
    Return Fv and Fc of the joints: damping and friction of the URDF's `dynamics` tags, else zero.

    :param joints: names in the order that numbers the parameters.
    :param frozen: all joints that do not move, with their positions.
    """
    model = load_model(path, dict(frozen), snap)
    found = {}
    for number, name in enumerate(joints, 1):
        at = model.joints[model.getJointId(name)].idx_v
        found[f'Fv{number}'] = float(model.damping[at])
        found[f'Fc{number}'] = float(model.upperDryFrictionLimit[at])
    return found


def _model(text: str, path: Path) -> pin.Model:
    try:
        return pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise DescriptionError(f'{path}: pinocchio cannot read it ({one_line(error)})') from error


def _others(
    joints: dict[str, JointTag], moving: list[str], free: tuple[str, ...]
) -> dict[str, float]:
    """Return all independent joints but the free ones, at zero or at the limit nearest to it."""
    locked = {}
    for name in moving:
        if name not in free and joints[name].mimic is None:
            lower, upper = joints[name].limits[:2]
            locked[name] = 0.0 if math.isnan(lower) else min(max(0.0, lower), upper)
    return locked


def _all_locked(
    path: Path, joints: dict[str, JointTag], moving: list[str], locked: dict[str, float]
) -> dict[str, float]:
    """Return the locked joints with those that mimic them."""
    for name in locked:
        if name not in moving:
            hint = did_you_mean(name, moving)
            raise DescriptionError(f"{path}: no moving joint '{name}' to lock, {hint}", joint=name)
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
                "and fixed joints are supported; put it under 'locked' of a robot file",
                joint=name,
            )
        if not np.any(joint.axis):
            raise DescriptionError(f"{path}: joint '{name}' has a zero axis", joint=name)
    independent = tuple(name for name in names if joints[name].mimic is None)
    nb = len(names)
    dof, ratio, offset = np.empty(nb, np.int64), np.ones(nb), np.zeros(nb)
    for i, name in enumerate(names):
        master, ratio[i], offset[i] = _master(path, joints, name)
        if master not in independent:
            raise DescriptionError(
                f"{path}: joint '{name}' mimics '{master}', which is not a moving joint",
                joint=name,
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
            raise DescriptionError(
                f"{path}: joint '{seen[-1]}' mimics '{name}', {hint}", joint=seen[-1]
            )
        if name in seen:
            raise DescriptionError(f"{path}: joint '{name}' mimics itself", joint=name)
        seen.append(name)
    return name, ratio, offset


def lock_joints(model: pin.Model, locked: dict[str, float]) -> pin.Model:
    """Return a model without its locked joints; a link may have the name of one of them."""
    model = model.copy()
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and model.existJointName(frame.name):
            frame.name = f'link {frame.name}'
    q = pin.neutral(model)
    for name, value in locked.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = [math.cos(value), math.sin(value)]
        elif joint.nq == 1:
            q[joint.idx_q] = value
        elif value != 0.0:
            raise DescriptionError(
                f"locked: joint '{name}' has {joint.nq} positions, only 0 fits", joint=name
            )
    return pin.buildReducedModel(model, [model.getJointId(name) for name in locked], q)
