"""
Everything in the joint torques that is not a rigid body: rotor inertia, friction, offset.

Each term is linear in one parameter and is a sum of atoms: torque[row] += gain * f(c . x), with
f by kind. A coupling (motor speeds = K * joint speeds) couples the rotor and the motor friction:
a motor m with c = K[m] / K[m, m] turns at c . dq and acts on joint i with gain c[i]. What falls on
a joint's own column is regrouped there, as in eq. 23 of paper 001: Ia_i, Fv_i of the other joints
absorb c_i^2, and Fc_m absorbs fcm_m.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError
from robot_id.model.description import Joint
from robot_id.model.kinematics import Kinematics

Array = NDArray[np.float64]


class Kind(IntEnum):
    """What an atom is made of, with x = c . ddq or c . dq."""

    INERTIA = 0
    VISCOUS = 1
    COULOMB = 2
    OFFSET = 3
    VISCOUS_POSITIVE = 4
    VISCOUS_NEGATIVE = 5
    COULOMB_POSITIVE = 6
    COULOMB_NEGATIVE = 7


@dataclass(frozen=True)
class Terms:
    """
    The atoms of all terms, as arrays that compiled kernels can walk.

    :param names: names of the parameters.
    :param joint: (e,) index of the joint each parameter belongs to.
    :param parameter: (a,) which parameter scales atom k.
    :param kind: (a,) Kind of atom k.
    :param row: (a,) joint on which it acts.
    :param gain: (a,).
    :param direction: (a, n) the vector c.
    """

    names: tuple[str, ...]
    joint: NDArray[np.int64]
    parameter: NDArray[np.int64]
    kind: NDArray[np.int64]
    row: NDArray[np.int64]
    gain: Array
    direction: Array


_FRICTION = {
    'viscous': [('Fv{}', Kind.VISCOUS)],
    'coulomb': [('Fc{}', Kind.COULOMB)],
    'asymmetric_viscous': [('Fv{}+', Kind.VISCOUS_POSITIVE), ('Fv{}-', Kind.VISCOUS_NEGATIVE)],
    'asymmetric_coulomb': [('Fc{}+', Kind.COULOMB_POSITIVE), ('Fc{}-', Kind.COULOMB_NEGATIVE)],
}


def build_terms(joints: tuple[Joint, ...], coupling: Array | None) -> Terms:
    """Return the terms of all joints in the papers' order: Ia Fv Fc Fvm Fcm Off per joint."""
    n = len(joints)
    normalised = _normalise(joints, coupling)
    names: list[str] = []
    owner: list[int] = []
    atoms: list[tuple[int, int, int, float, Array]] = []

    def add(name: str, j: int, parts: list[tuple[int, int, float, Array]]) -> None:
        for kind, row, gain, direction in parts:
            atoms.append((len(names), kind, row, gain, direction))
        names.append(name)
        owner.append(j)

    unit = np.eye(n)
    for j, joint in enumerate(joints):
        c = normalised[j]
        coupled = bool(np.any(c[np.arange(n) != j]))
        label = str(j + 1)
        if joint.rotor_inertia == 'geared':
            add(f'Ia{label}', j, _coupled(Kind.INERTIA, c, j, keep_own=True))
        for term in joint.friction:
            for pattern, kind in _FRICTION.get(term, []):
                add(pattern.format(label), j, [(kind, j, 1.0, unit[j])])
        if coupled and 'viscous' in joint.friction:
            add(f'Fvm{label}', j, _coupled(Kind.VISCOUS, c, j, keep_own=False))
        if coupled and 'coulomb' in joint.friction:
            parts = [(int(Kind.COULOMB), int(i), float(c[i]), c) for i in np.flatnonzero(c)]
            add(f'Fcm{label}', j, [*parts, (int(Kind.COULOMB), j, -1.0, unit[j])])
        if 'offset' in joint.friction:
            add(f'Off{label}', j, [(Kind.OFFSET, j, 1.0, unit[j])])
    return Terms(
        names=tuple(names),
        joint=np.array(owner, np.int64),
        parameter=np.array([a[0] for a in atoms], np.int64),
        kind=np.array([a[1] for a in atoms], np.int64),
        row=np.array([a[2] for a in atoms], np.int64),
        gain=np.array([a[3] for a in atoms], float),
        direction=np.array([a[4] for a in atoms], float).reshape(len(atoms), n),
    )


def _coupled(kind: Kind, c: Array, j: int, keep_own: bool) -> list[tuple[int, int, float, Array]]:
    """
    Return the atoms of c c^T x less its diagonal, which other columns hold.

    :param keep_own: the entry (j, j) stays (rotor inertia), or goes as well (Fv_j holds it).
    """
    parts = []
    for i in np.flatnonzero(c):
        direction = c.copy()
        if i != j or not keep_own:
            direction[i] = 0.0
        if np.any(direction):
            parts.append((int(kind), int(i), float(c[i]), direction))
    return parts


def _normalise(joints: tuple[Joint, ...], coupling: Array | None) -> Array:
    """(n, n) rows c of the motors, c_j = 1: rotor speed over its own gear ratio."""
    n = len(joints)
    if coupling is None:
        return np.eye(n)
    diagonal = np.diag(coupling)
    for j in range(n):
        if diagonal[j] == 0.0:
            raise DescriptionError(f"coupling: motor of joint '{joints[j].name}' does not turn it")
    return coupling / diagonal[:, None]


def direct_rotors(joints: tuple[Joint, ...], kinematics: Kinematics) -> dict[int, Array]:
    """
    Return joint -> (10,) inertial parameters of a unit rotor that is fixed to its link.

    A rotor of inertia Ia about the joint axis a adds Ia a a^T to the inertia of the link, a
    directly driven slide adds its mass.
    """
    rotors = {}
    for j, joint in enumerate(joints):
        if joint.rotor_inertia != 'direct':
            continue
        body = kinematics.own_body(j)
        a, row = kinematics.axis[body], np.zeros(10)
        if kinematics.prismatic[body]:
            row[9] = 1.0
        else:
            row[:6] = np.outer(a, a)[np.triu_indices(3)]
        rotors[j] = row
    return rotors
