"""
The tree of moving bodies, from a modified-DH table or from a URDF.

Body i hangs on its parent by R(q), p(q); its joint is dof[i] with q_body = ratio * q + offset (a
mimic joint shares the dof of another). Inertial parameters live at the origin of the body frame.
Bodies of joints that are locked are part of the one below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.files.description import MdhRow
from robot_id.robot.parameters.inertia import pinocchio_inertia

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
    :param locked: joints of the URDF that are frozen, with their position.
    :param notes: a line for each number of the description that was snapped.
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
    locked: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of independent joints."""
        return len(self.joint_names)

    def expansion(self) -> Array:
        """(nb, n) matrix A with dq_body = A dq."""
        A = np.zeros((len(self.parent), self.n))
        A[np.arange(len(self.parent)), self.dof] = self.ratio
        return A

    def carried_mass(self) -> Array:
        """(n,) mass of the URDF that each joint moves, in kg."""
        bodies = self.inertia[:, 9].copy()
        for i in range(len(bodies) - 1, -1, -1):
            if self.parent[i] >= 0:
                bodies[self.parent[i]] += bodies[i]
        carried = np.zeros(self.n)
        np.add.at(carried, self.dof, bodies)
        return carried

    def own_body(self, j: int) -> int:
        """Return the body that joint j itself carries (mimic joints carry others)."""
        return self.body_names.index(self.joint_names[j])


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


def lock_chain(chain: Kinematics, locked: Mapping[str, float]) -> Kinematics:
    """
    Return a serial chain without its locked joints.

    The placement of the next body becomes T_locked(q) T_next, with T_locked(q) = [R, p] of the
    locked joint at its position q; base parameters of the merged bodies are those of the one.

    :param locked: joint -> position, rad or m.
    """
    for name in locked:
        if name not in chain.joint_names:
            hint = did_you_mean(name, chain.joint_names)
            raise DescriptionError(f"locked: no joint '{name}' in the table, {hint}", joint=name)
    free = [j for j, name in enumerate(chain.joint_names) if name not in locked]
    if not free:
        raise DescriptionError(
            'locked: all joints are locked, one at least must move', code='all_locked'
        )
    placements, before = [], pin.SE3.Identity()
    for j, name in enumerate(chain.joint_names):
        here = before * pin.SE3(chain.rotation[j], chain.translation[j])
        if name in locked:
            before = here * _moved(chain.axis[j], bool(chain.prismatic[j]), locked[name])
        else:
            placements.append(here)
            before = pin.SE3.Identity()
    names, n = tuple(chain.joint_names[j] for j in free), len(free)
    return replace(
        chain,
        joint_names=names,
        body_names=names,
        parent=np.arange(n) - 1,
        rotation=np.array([M.rotation for M in placements]),
        translation=np.array([M.translation for M in placements]),
        axis=chain.axis[free],
        prismatic=chain.prismatic[free],
        dof=np.arange(n),
        ratio=chain.ratio[free],
        offset=chain.offset[free],
        inertia=chain.inertia[free],
        limits=chain.limits[free],
        locked=dict(locked),
    )


def _moved(axis: NDArray[np.float64], prismatic: bool, q: float) -> pin.SE3:
    if prismatic:
        return pin.SE3(np.eye(3), q * axis)
    return pin.SE3(pin.AngleAxis(q, axis).toRotationMatrix(), np.zeros(3))
