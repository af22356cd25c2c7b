"""The robot as the check sees it: plain friction terms, any gravity, inertias to compare with."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot
from robot_id.robot.files.description import Joint

Array = NDArray[np.float64]

# Share of equal inertias, among more than this many links, above which they are placeholders.
SAME_SHARE, FEWEST = 0.6, 4
# Gravity in no special direction: its base parameters serve for every mount.
TILTED = (3.3, -4.7, -7.9)


def with_plain_terms(robot: Robot, gravity: Array) -> Robot:
    """Return the robot with rotor, viscous, Coulomb and offset terms and another gravity."""
    plain = ('viscous', 'coulomb', 'offset')
    joints = tuple(
        Joint(name=joint.name, gear_ratio=joint.gear_ratio, friction=plain, limits=joint.limits)
        for joint in robot.joints
    )
    update = {
        'joints': joints,
        'gravity': tuple(float(g) for g in gravity),
        'renamed': {},
        'truth': {},
        'a_priori': {},
    }
    return Robot(robot.description.model_copy(update=update), robot.kinematics, robot.urdf)


def prior_inertia(robot: Robot) -> Array | None:
    """
    (nb, 10) inertias that the robot file brings, None where they are missing or placeholders.

    Values of the file itself come before those of the URDF.
    """
    values = robot.description.a_priori or robot.description.truth
    if values:
        rows = robot.standard.inertial_rows(robot.standard_vector(values, 'a_priori'))
    else:
        rows = robot.kinematics.inertia
    mass = rows[:, 9]
    if not np.all(np.isfinite(rows)) or mass.max(initial=0.0) <= 1e-6:
        return None
    placeholder = len(rows) > 2 and np.ptp(mass) < 1e-9 * mass.max()
    if placeholder or (not values and robot.urdf is not None and _same_everywhere(robot.urdf)):
        return None
    return np.ascontiguousarray(rows, dtype=float)


def _same_everywhere(urdf: Path) -> bool:
    """Return whether most links of a URDF have the same mass and moments of inertia."""
    found: Counter[tuple[float, ...]] = Counter()
    for inertial in ElementTree.parse(urdf).getroot().iter('inertial'):
        mass, inertia = inertial.find('mass'), inertial.find('inertia')
        if mass is None or inertia is None:
            continue
        values = [mass.get('value'), *(inertia.get(key) for key in ('ixx', 'iyy', 'izz'))]
        found[tuple(float(value or 0.0) for value in values)] += 1
    return found.total() > FEWEST and max(found.values()) > SAME_SHARE * found.total()
