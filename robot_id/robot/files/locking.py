"""Joints of a modified-DH table that do not move: their bodies are part of the one below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.kinematics import Kinematics


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
