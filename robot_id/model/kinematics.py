"""
The tree of moving bodies, from a modified-DH table or from a URDF.

Body i hangs on its parent by R(q), p(q); its joint is dof[i] with q_body = ratio * q + offset (a
mimic joint shares the dof of another). Inertial parameters live at the origin of the body frame.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.model.description import MdhRow

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kinematics:
    """
    Bodies in topological order (a parent before its children).

    :param joint_names: names of the n independent joints.
    :param body_names: names of the joints that carry the nb bodies (mimic joints included).
    :param parent: (nb,) index of the parent body, -1 for the base.
    :param rotation: (nb, 3, 3) placement at q = 0 in the parent.
    :param translation: (nb, 3).
    :param axis: (nb, 3) unit joint axis in the body frame.
    :param prismatic: (nb,) flags.
    :param dof: (nb,) index of the joint that moves the body.
    :param ratio: (nb,) q_body = ratio * q[dof] + offset.
    :param offset: (nb,).
    :param inertia: (nb, 10) [XX XY XZ YY YZ ZZ MX MY MZ M] of the URDF, zero for an MDH table.
    :param limits: (n, 4) lower, upper, velocity, effort of the URDF; NaN where not given.
    """

    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    parent: NDArray[np.int64]
    rotation: Array
    translation: Array
    axis: Array
    prismatic: NDArray[np.bool_]
    dof: NDArray[np.int64]
    ratio: Array
    offset: Array
    inertia: Array
    limits: Array

    @property
    def n(self) -> int:
        """Number of independent joints."""
        return len(self.joint_names)

    def expansion(self) -> Array:
        """(nb, n) matrix A with dq_body = A dq."""
        A = np.zeros((len(self.parent), self.n))
        A[np.arange(len(self.parent)), self.dof] = self.ratio
        return A


def from_mdh(rows: tuple[MdhRow, ...], names: tuple[str, ...]) -> Kinematics:
    """Build a serial chain from a modified-DH table."""
    nb = len(rows)
    rotation, translation = np.empty((nb, 3, 3)), np.empty((nb, 3))
    for j, row in enumerate(rows):
        ca, sa = math.cos(row.alpha), math.sin(row.alpha)
        ct, st = math.cos(row.theta), math.sin(row.theta)
        rotation[j] = [[ct, -st, 0.0], [ca * st, ca * ct, -sa], [sa * st, sa * ct, ca]]
        translation[j] = [row.d, -sa * row.r, ca * row.r]
    return Kinematics(
        joint_names=names,
        body_names=names,
        parent=np.arange(nb) - 1,
        rotation=rotation,
        translation=translation,
        axis=np.tile([0.0, 0.0, 1.0], (nb, 1)),
        prismatic=np.array([row.type == 'prismatic' for row in rows]),
        dof=np.arange(nb),
        ratio=np.ones(nb),
        offset=np.zeros(nb),
        inertia=np.zeros((nb, 10)),
        limits=np.full((nb, 4), np.nan),
    )


def from_urdf(path: Path, locked: dict[str, float] | None = None) -> Kinematics:
    """
    Build the tree of a URDF: fixed joints merged, locked joints frozen, mimic joints tied.

    :param locked: joints that do not move, with their position.
    """
    text = _read(path)
    try:
        model = pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise DescriptionError(f'{path}: pinocchio cannot read it ({_one_line(error)})') from error
    mimics = _mimic_tags(path, text)
    locked = dict(locked or {})
    names = list(model.names)[1:]
    for name in locked:
        if name not in names:
            raise DescriptionError(
                f"{path}: no joint '{name}' to lock, {did_you_mean(name, names)}"
            )
    if locked:
        model = _lock(model, locked)
    types = {'revolute': _urdf_axes(text), 'limits': _urdf_limits(text)}
    return _extract(path, model, mimics, types['revolute'], types['limits'])


def _extract(
    path: Path,
    model: pin.Model,
    mimics: dict[str, tuple[str, float, float]],
    axes: dict[str, tuple[str, Array]],
    limits: dict[str, Array],
) -> Kinematics:
    names = list(model.names)[1:]
    for name in names:
        if axes[name][0] not in ('revolute', 'continuous', 'prismatic'):
            raise DescriptionError(
                f"{path}: joint '{name}' is {axes[name][0]}, only revolute, continuous, prismatic "
                "and fixed joints can be handled; put it under 'locked'"
            )
    if not names:
        raise DescriptionError(f'{path}: no moving joint')
    independent = tuple(name for name in names if name not in mimics)
    nb = len(names)
    dof, ratio, offset = np.empty(nb, np.int64), np.ones(nb), np.zeros(nb)
    for i, name in enumerate(names):
        master, ratio[i], offset[i] = mimics.get(name, (name, 1.0, 0.0))
        if master not in independent:
            raise DescriptionError(
                f"{path}: joint '{name}' mimics '{master}', which is not a free joint"
            )
        dof[i] = independent.index(master)
    return Kinematics(
        joint_names=independent,
        body_names=tuple(names),
        parent=np.array([model.parents[i + 1] - 1 for i in range(nb)], np.int64),
        rotation=np.array([model.jointPlacements[i + 1].rotation for i in range(nb)]),
        translation=np.array([model.jointPlacements[i + 1].translation for i in range(nb)]),
        axis=np.array([axes[name][1] for name in names]),
        prismatic=np.array([axes[name][0] == 'prismatic' for name in names]),
        dof=dof,
        ratio=ratio,
        offset=offset,
        inertia=np.array([inertia_row(model.inertias[i + 1]) for i in range(nb)]),
        limits=np.array([limits[name] for name in independent]),
    )


def to_pinocchio(kinematics: Kinematics, gravity: Array, inertia: Array) -> pin.Model:
    """Return a pinocchio model with a scalar joint per body and the given (nb, 10) inertias."""
    model = pin.Model()
    model.gravity = pin.Motion(np.asarray(gravity, float), np.zeros(3))
    for i, name in enumerate(kinematics.body_names):
        kind = (
            pin.JointModelPrismaticUnaligned
            if kinematics.prismatic[i]
            else pin.JointModelRevoluteUnaligned
        )
        placement = pin.SE3(kinematics.rotation[i], kinematics.translation[i])
        joint = model.addJoint(
            int(kinematics.parent[i]) + 1, kind(kinematics.axis[i].copy()), placement, name
        )
        model.appendBodyToJoint(joint, pinocchio_inertia(inertia[i]), pin.SE3.Identity())
    return model


# pinocchio orders [M MX MY MZ XX XY YY XZ YZ ZZ]; ours is [XX XY XZ YY YZ ZZ MX MY MZ M].
FROM_PINOCCHIO = np.array([4, 5, 7, 6, 8, 9, 1, 2, 3, 0])
TO_PINOCCHIO = np.argsort(FROM_PINOCCHIO)


def inertia_row(inertia: pin.Inertia) -> Array:
    """Return the 10 parameters of a pinocchio inertia at the origin of its frame."""
    return np.asarray(inertia.toDynamicParameters())[FROM_PINOCCHIO]


def pinocchio_inertia(row: Array) -> pin.Inertia:
    """Return a pinocchio inertia from our 10 parameters (a massless body must be all zero)."""
    if row[9] == 0.0:
        if np.any(row):
            raise DescriptionError('a body with inertia but no mass has no pinocchio form')
        return pin.Inertia.Zero()
    return pin.Inertia.FromDynamicParameters(row[TO_PINOCCHIO])


def _lock(model: pin.Model, locked: dict[str, float]) -> pin.Model:
    q = pin.neutral(model)
    for name, value in locked.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = [math.cos(value), math.sin(value)]
        elif joint.nq == 1:
            q[joint.idx_q] = value
    return pin.buildReducedModel(model, [model.getJointId(name) for name in locked], q)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise DescriptionError(f'{path}: {error.strerror or error}') from error


def _urdf_joints(text: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(text).findall('joint')


def _urdf_axes(text: str) -> dict[str, tuple[str, Array]]:
    """Return type and unit axis of every joint of the URDF."""
    axes = {}
    for joint in _urdf_joints(text):
        tag = joint.find('axis')
        xyz = tag.get('xyz', '1 0 0') if tag is not None else '1 0 0'
        axis = np.array([float(v) for v in xyz.split()])
        norm = np.linalg.norm(axis)
        axes[joint.get('name', '')] = (
            joint.get('type', ''),
            axis / norm if norm > 0 else np.array([1.0, 0.0, 0.0]),
        )
    return axes


def _urdf_limits(text: str) -> dict[str, Array]:
    limits = {}
    for joint in _urdf_joints(text):
        tag = joint.find('limit')
        row = np.full(4, np.nan)
        if tag is not None:
            for k, key in enumerate(('lower', 'upper', 'velocity', 'effort')):
                if tag.get(key) is not None and not (joint.get('type') == 'continuous' and k < 2):
                    row[k] = float(tag.get(key, 'nan'))
            if row[1] <= row[0]:
                row[:2] = np.nan
            row[2:][row[2:] <= 0.0] = np.nan
        limits[joint.get('name', '')] = row
    return limits


def _mimic_tags(path: Path, text: str) -> dict[str, tuple[str, float, float]]:
    mimics = {}
    for joint in _urdf_joints(text):
        tag = joint.find('mimic')
        if tag is None:
            continue
        name = joint.get('name', '')
        master = tag.get('joint')
        if master is None:
            raise DescriptionError(f"{path}: joint '{name}' has a mimic tag with no joint")
        mimics[name] = (
            master,
            float(tag.get('multiplier', '1')),
            float(tag.get('offset', '0')),
        )
    return mimics


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split())[:200]
