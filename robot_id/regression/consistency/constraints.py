"""What a robot's parameters must obey besides their pseudo-inertias: rows on the standard set."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot
from robot_id.robot.files.bounds import AXES, LinkBounds
from robot_id.robot.friction import TERMS

Array = NDArray[np.float64]
# Rotors, what takes energy at every speed, and what its friction term declares.
_NOT_NEGATIVE = {'Ia{}'} | {
    name
    for term in TERMS.values()
    for column in term.columns
    for name in (column.name, column.motor)
    if name is not None and (term.not_negative or name[:2] in ('Fv', 'Fc'))
    if term.modulation != 'temperature'
}
# XX XY XZ YY YZ ZZ: what vanishes in a body that mirrors along x, y or z.
_PRODUCTS = ((1, 2), (1, 4), (2, 4))
# Second moment along each axis, Sigma_kk = (tr I)/2 - I_kk.
_SECOND = 0.5 * np.array([[-1, 1, 1], [1, -1, 1], [1, 1, -1]])
_DIAGONAL = [0, 3, 5]


@dataclass(frozen=True)
class Constraints:
    """
    Rows on the (s,) standard parameters x.

    :param drive_columns: (m,) rotor inertias and friction coefficients.
    :param drives: (m, m) rows on them that stay above zero.
    :param bounds: (c, s) with bounds @ x + offset >= 0: what the robot file bounds.
    :param offset: (c,).
    :param equal: (e, s) with equal @ x = 0: links that mirror themselves.
    """

    drive_columns: NDArray[np.int64]
    drives: Array
    bounds: Array
    offset: Array
    equal: Array


def not_negative(name: str) -> bool:
    """Whether a rotor inertia or friction coefficient stays above zero in a robot that exists."""
    return re.sub(r'\d+', '{}', name) in _NOT_NEGATIVE


def constraints_of(robot: Robot) -> Constraints:
    """Return the constraints of a robot: of its drives, and of its file."""
    s = len(robot.standard_names)
    bounds, offset, equal = [], [], []
    for joint, given in robot.description.bounds.links.items():
        columns = robot.inertial_index[robot.kinematics.body_names.index(joint)]
        for row, constant in _inequalities(given):
            bounds.append(_spread(row, columns, s))
            offset.append(constant)
        for row in _equalities(given):
            equal.append(_spread(row, columns, s))
    columns, drives = _drives(robot)
    return Constraints(
        columns,
        drives,
        np.array(bounds).reshape(-1, s),
        np.array(offset, float),
        np.array(equal).reshape(-1, s),
    )


def _drives(robot: Robot) -> tuple[NDArray[np.int64], Array]:
    """
    Return columns (m,) and rows (m, m) of the rotors' own inertias and of the friction.

    Ia_i of a joint holds a share of every rotor that turns with it, Ia = S^T J (`rotor_shares`);
    it is J that must be positive for M(q) to be. A rotor that others share in takes in none: the
    inverse of S is 2 E - S.
    """
    names = [name for name in robot.standard_names if not_negative(name)]
    place = {name: k for k, name in enumerate(names)}
    columns = np.array([robot.standard_names.index(name) for name in names], np.int64)
    rows = np.eye(len(names))
    rotors = [j for j in range(robot.n) if f'Ia{j + 1}' in place]
    at = [place[f'Ia{j + 1}'] for j in rotors]
    shares = robot.rotor_shares[np.ix_(rotors, rotors)]
    rows[np.ix_(at, at)] = 2.0 * np.eye(len(rotors)) - shares.T
    return columns, rows


def _inequalities(given: LinkBounds) -> list[tuple[Array, float]]:
    """Return (10,) rows and constants with row . x + constant >= 0."""
    unit, found = np.eye(10), []
    if given.mass is not None:
        found += [(unit[9], -given.mass[0]), (-unit[9], given.mass[1])]
    for k, pair in enumerate(given.centre or ()):
        if pair is not None and AXES[k] not in given.mirrors:
            found.append((unit[6 + k] - pair[0] * unit[9], 0.0))
            found.append((pair[1] * unit[9] - unit[6 + k], 0.0))
    if given.planar is not None:
        # A homogeneous plate has the second moment m t^2 / 12 across.
        row = given.planar.thickness**2 / 12.0 * unit[9]
        row[_DIAGONAL] -= _SECOND[AXES.index(given.planar.normal)]
        found.append((row, 0.0))
    return found


def _equalities(given: LinkBounds) -> list[Array]:
    """Return (10,) rows with row . x = 0."""
    unit, found = np.eye(10), set()
    for axis in given.mirrors:
        k = AXES.index(axis)
        found |= {6 + k, *_PRODUCTS[k]}
    return [unit[k] for k in sorted(found)]


def _spread(row: Array, columns: NDArray[np.int64], s: int) -> Array:
    whole = np.zeros(s)
    whole[columns] = row
    return whole
