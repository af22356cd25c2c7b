"""
What is known of a body before any measurement: its URDF, else its shapes, else its size.

The prior decides only what the data leave open, so it need not be right, only possible: its
weight is a small part of one observation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression.consistency.pseudo_inertia import inertial_row, pseudo_inertia
from robot_id.robot import Robot
from robot_id.robot.files.bounds import AXES, LinkBounds
from robot_id.robot.shapes import shape_inertias

Array = NDArray[np.float64]
Origin = Literal['urdf', 'shapes', 'none']
# Weight of the distance to the prior, in squared deviations of the data.
WEIGHT: dict[Origin, float] = {'urdf': 0.1, 'shapes': 0.05, 'none': 0.005}
# A body of a robot has a mass and a size between these; what lies outside was never measured.
_MASS = (1e-3, 1e4)
_SIZE = (1e-3, 3.0)
_FLAT = 1e-4  # least ratio of the principal second moments about the centre
_GENERIC_MASS = 2.0
# Masses that are this many times off are scaled.
_FAR = 5.0


@dataclass(frozen=True)
class Prior:
    """
    Prior bodies.

    :param rows: (nb, 10) inertial parameters, positive definite pseudo-inertias.
    :param origin: (nb,) where each comes from.
    """

    rows: Array
    origin: tuple[Origin, ...]

    @property
    def weights(self) -> Array:
        """(nb,)."""
        return np.array([WEIGHT[origin] for origin in self.origin])


def prior_of(robot: Robot) -> Prior:
    """Return the prior of every body, moved inside the bounds of the robot file."""
    rows = np.array(robot.kinematics.inertia, float)
    origin: list[Origin] = ['urdf'] * len(rows)
    doubtful = [i for i, row in enumerate(rows) if not sensible(row)]
    shapes = shape_inertias(robot) if doubtful else None
    for i in doubtful:
        if shapes is not None and sensible(shapes[i]):
            rows[i], origin[i] = shapes[i], 'shapes'
        else:
            rows[i], origin[i] = _generic(robot, i), 'none'
    for joint, bounds in robot.description.bounds.links.items():
        i = robot.kinematics.body_names.index(joint)
        rows[i] = inside(rows[i], bounds)
    return Prior(rows, tuple(origin))


def sensible(row: Array) -> bool:
    """
    Whether a file's inertia can be that of a robot's link.

    The triangle inequalities hold with a margin, and mass and size are those of a machine: an
    identity tensor on a gram, or a point mass, is what exporters write when they know nothing.
    """
    m = row[9]
    if not np.all(np.isfinite(row)) or not _MASS[0] <= m <= _MASS[1]:
        return False
    moments = np.linalg.eigvalsh(_central(row))
    size = np.sqrt(max(moments.sum(), 0.0) / m)
    return bool(_SIZE[0] <= size <= _SIZE[1] and moments[0] >= _FLAT * moments[-1])


def inside(row: Array, bounds: LinkBounds) -> Array:
    """Return a body like this one strictly inside the bounds of a link."""
    m, centre, second = row[9], row[6:9] / row[9], _central(row)
    if bounds.mass is not None:
        margin = 0.05 * (bounds.mass[1] - bounds.mass[0])
        new = float(np.clip(m, bounds.mass[0] + margin, bounds.mass[1] - margin))
        second, m = second * new / m, new
    for k, pair in enumerate(bounds.centre or ()):
        if pair is not None:
            margin = 0.05 * (pair[1] - pair[0])
            centre[k] = np.clip(centre[k], pair[0] + margin, pair[1] - margin)
    for axis in bounds.mirrors:
        k = AXES.index(axis)
        centre[k] = 0.0
        second[k, np.arange(3) != k] = second[np.arange(3) != k, k] = 0.0
    if bounds.planar is not None:
        k = AXES.index(bounds.planar.normal)
        second[k, k] = min(second[k, k], 0.5 * m * bounds.planar.thickness**2 / 12.0)
    return _row(m, centre, second)


def heavier(prior: Prior, total: float) -> Prior:
    """Return the prior with all masses scaled to a known total."""
    return replace(prior, rows=prior.rows * total / prior.rows[:, 9].sum())


def mass_factor(robot: Robot, prior: Prior, A: Array, z: Array) -> float | None:
    """
    Return how many times as heavy as their prior the bodies are, None where that is good enough.

    A prior without any knowledge of masses would pull a heavy robot towards a light one, and the
    way is long. A (f x_bodies + x_drives) = z is solved for f and the drives.

    :param A: (r, s) the data's rows in standard parameters.
    """
    bounds = robot.description.bounds
    known = any(origin != 'none' for origin in prior.origin)
    if known or bounds.links or bounds.total_mass is not None:
        return None
    x, drives = np.zeros(A.shape[1]), np.ones(A.shape[1], bool)
    x[robot.inertial_index], drives[robot.inertial_index] = prior.rows, False
    columns = np.column_stack([A @ x, A[:, drives]])
    factor = float(sl.lstsq(columns, z, lapack_driver='gelsy')[0][0])
    if not factor > 0.0 or 1.0 / _FAR < factor < _FAR:
        return None
    return float(np.clip(factor, 1e-3, 1e4))


def _generic(robot: Robot, i: int) -> Array:
    """Return a ball around the middle of the link: from its joint to the next one."""
    kinematics = robot.kinematics
    children = np.flatnonzero(kinematics.parent == i)
    lengths = np.linalg.norm(kinematics.translation, axis=1)
    typical = float(np.mean(lengths[lengths > 0.0])) if np.any(lengths > 0.0) else 0.2
    middle, size = np.zeros(3), typical
    if len(children):
        middle = kinematics.translation[children].mean(axis=0) / 2.0
        size = max(float(np.linalg.norm(2.0 * middle)), 0.3 * typical)
    radius = size / 2.0
    second = _GENERIC_MASS * radius**2 / 5.0 * np.eye(3)
    return _row(_GENERIC_MASS, middle, second)


def _central(row: Array) -> Array:
    """(3, 3) second moments of the mass about its centre."""
    P = pseudo_inertia(row)
    return P[:3, :3] - np.outer(row[6:9], row[6:9]) / row[9]


def _row(m: float, centre: Array, second: Array) -> Array:
    P = np.empty((4, 4))
    P[:3, :3] = second + m * np.outer(centre, centre)
    P[:3, 3] = P[3, :3] = m * centre
    P[3, 3] = m
    return inertial_row(P)
