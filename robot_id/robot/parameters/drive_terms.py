"""
Everything in the joint torques that is not a rigid body: rotor inertia, friction, offset.

Each parameter scales a sum of atoms: torque[row] += gain * f(c . x), with f by kind (0: a rotor,
x = ddq; else a column of the friction registry, x = dq). A coupling (motor speeds = K * joint
speeds) couples the rotor and the motor friction: a motor m with c = K[m] / K[m, m] turns at c . dq
and acts on joint i with gain c[i]. What falls on a joint's own column is regrouped there, as in
eq. 23 of paper 001: Ia_i, Fv_i of the other joints absorb c_i^2, and Fc_m absorbs fcm_m. An Ia_i
whose own motor turns with several joints absorbs nothing: its column is not (i, i) alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError
from robot_id.robot.files.description import Joint
from robot_id.robot.friction import ROTOR, TERMS, Column, FrictionTerm, kind_of
from robot_id.robot.kinematics import Kinematics

Array = NDArray[np.float64]


# kind, row, gain, direction c, constant
_Atom = tuple[int, int, float, Array, float]


@dataclass(frozen=True)
class Terms:
    """
    The atoms of all terms, as arrays that compiled kernels can walk.

    :param names: names of the parameters.
    :param joint: (e,) index of the joint each parameter belongs to.
    :param parameter: (a,) which parameter scales atom k.
    :param kind: (a,) 0 for a rotor, else the kind of its friction (friction.kind_of).
    :param row: (a,) joint on which it acts.
    :param gain: (a,).
    :param direction: (a, n) the vector c.
    :param constant: (a,) constant of its friction term, 0 where the term has none.
    """

    names: tuple[str, ...]
    joint: NDArray[np.int64]
    parameter: NDArray[np.int64]
    kind: NDArray[np.int64]
    row: NDArray[np.int64]
    gain: Array
    direction: Array
    constant: Array


def build_terms(joints: tuple[Joint, ...], coupling: Array | None) -> Terms:
    """Return the terms of all joints in the papers' order: Ia Fv Fc Fvm Fcm Off per joint."""
    n = len(joints)
    normalised = _normalise(joints, coupling)
    named = [
        (name, j, atoms) for j in range(n) for name, atoms in _joint_terms(joints, j, normalised)
    ]
    atoms = [(p, *atom) for p, (_, _, parts) in enumerate(named) for atom in parts]
    return Terms(
        names=tuple(name for name, _, _ in named),
        joint=np.array([j for _, j, _ in named], np.int64),
        parameter=np.array([a[0] for a in atoms], np.int64),
        kind=np.array([a[1] for a in atoms], np.int64),
        row=np.array([a[2] for a in atoms], np.int64),
        gain=np.array([a[3] for a in atoms], float),
        direction=np.array([a[4] for a in atoms], float).reshape(len(atoms), n),
        constant=np.array([a[5] for a in atoms], float),
    )


def rotor_shares(joints: tuple[Joint, ...], coupling: Array | None) -> Array:
    """
    (n, n) S with Ia_i = sum_m S[m, i] J_m, J_m the inertia of rotor m alone.

    Ia_i takes in c_mi^2 J_m of the motors that turn with joint i where its own motor turns joint i
    alone; else Ia_i = J_i.
    """
    normalised = _normalise(joints, coupling)
    square = np.where(_takes_in(joints, normalised), normalised**2, 0.0)
    np.fill_diagonal(square, 1.0)
    return square


def _takes_in(joints: tuple[Joint, ...], normalised: Array) -> NDArray[np.bool_]:
    """(n,) whether the column of Ia_i exists and is the entry (i, i) alone."""
    alone = np.count_nonzero(normalised, axis=1) == 1
    return alone & np.array([joint.rotor_inertia == 'geared' for joint in joints], bool)


def _joint_terms(
    joints: tuple[Joint, ...], j: int, normalised: Array
) -> list[tuple[str, list[_Atom]]]:
    """Return the parameters of one joint with their atoms."""
    joint, c = joints[j], normalised[j]
    unit = np.eye(len(c))[j]
    coupled = np.count_nonzero(c) > 1
    own: list[tuple[str, list[_Atom]]] = []
    shaft: list[tuple[str, list[_Atom]]] = []
    last: list[tuple[str, list[_Atom]]] = []
    if joint.rotor_inertia == 'geared':
        elsewhere = _takes_in(joints, normalised)
        elsewhere[j] = False
        own.append((f'Ia{j + 1}', _linear(ROTOR, c, elsewhere)))
    for name in joint.friction:
        term, constant = TERMS[name], joint.constant_of(name)
        for k, column in enumerate(term.columns):
            atom = (kind_of(name, k), j, 1.0, unit, constant)
            (last if term.last else own).append((column.name.format(j + 1), [atom]))
            if coupled and column.motor is not None:
                elsewhere = np.array([name in other.friction for other in joints])
                atoms = _shaft(term, column, constant, c, j, elsewhere)
                shaft.append((column.motor.format(j + 1), atoms))
    return own + shaft + last


def _shaft(
    term: FrictionTerm,
    column: Column,
    constant: float,
    c: Array,
    j: int,
    elsewhere: NDArray[np.bool_],
) -> list[_Atom]:
    """Return the atoms of friction on the shaft of motor j, less what the joints' own hold."""
    kind = kind_of(term.name, term.columns.index(column))
    if term.linear_in_speed:
        return _linear(kind, c, elsewhere)
    unit = np.eye(len(c))[j]
    atoms = [(kind, int(i), float(c[i]), c, constant) for i in np.flatnonzero(c)]
    return [*atoms, (kind, j, -1.0, unit, constant)]


def _linear(kind: int, c: Array, elsewhere: NDArray[np.bool_]) -> list[_Atom]:
    """
    Return the atoms of c c^T x less the entries of its diagonal that other columns hold.

    :param elsewhere: (n,) whether another column holds the entry (i, i).
    """
    parts = []
    for i in np.flatnonzero(c):
        direction = c.copy()
        if elsewhere[i]:
            direction[i] = 0.0
        if np.any(direction):
            parts.append((kind, int(i), float(c[i]), direction, 0.0))
    return parts


def _normalise(joints: tuple[Joint, ...], coupling: Array | None) -> Array:
    """(n, n) rows c of the motors, c_j = 1: rotor speed over its own gear ratio."""
    n = len(joints)
    if coupling is None:
        return np.eye(n)
    diagonal = np.diag(coupling)
    for j in range(n):
        if diagonal[j] == 0.0:
            raise DescriptionError(
                f"coupling: motor of joint '{joints[j].name}' does not turn it",
                joint=joints[j].name,
            )
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
