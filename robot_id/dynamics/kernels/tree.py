"""The robot as plain arrays that compiled kernels can walk."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Tree(NamedTuple):
    """
    Bodies: rotation in the parent R(q) = fixed + cos(q) cosine + sin(q) sine, origin p0 + q slide.

    Terms: see robot_id.robot.parameters.drive_terms; ancestor[i, j] tells whether joint j carries
    body i.
    """

    parent: Index
    fixed: Array
    cosine: Array
    sine: Array
    origin: Array
    slide: Array
    axis: Array
    prismatic: NDArray[np.bool_]
    dof: Index
    ratio: Array
    offset: Array
    gravity: Array
    ancestor: NDArray[np.bool_]
    term_parameter: Index
    term_kind: Index
    term_row: Index
    term_gain: Array
    term_direction: Array
    term_constant: Array


_trees: WeakKeyDictionary[Robot, Tree] = WeakKeyDictionary()


def tree_of(robot: Robot) -> Tree:
    """Return the arrays of a robot, built once."""
    tree = _trees.get(robot)
    if tree is None:
        tree = _trees[robot] = _build(robot)
    return tree


def _build(robot: Robot) -> Tree:
    k, terms = robot.kinematics, robot.terms
    nb = len(k.parent)
    fixed, cosine, sine = (np.zeros((nb, 3, 3)) for _ in range(3))
    slide = np.zeros((nb, 3))
    ancestor = np.zeros((nb, nb), bool)
    for i in range(nb):
        a, R0 = k.axis[i], k.rotation[i]
        if k.prismatic[i]:
            fixed[i] = R0
            slide[i] = R0 @ a
        else:
            skew = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
            fixed[i] = R0 @ np.outer(a, a)
            cosine[i] = R0 @ (np.eye(3) - np.outer(a, a))
            sine[i] = R0 @ skew
        if k.parent[i] >= 0:
            ancestor[i] = ancestor[k.parent[i]]
        ancestor[i, i] = True
    return Tree(
        parent=k.parent,
        fixed=fixed,
        cosine=cosine,
        sine=sine,
        origin=np.ascontiguousarray(k.translation),
        slide=slide,
        axis=np.ascontiguousarray(k.axis),
        prismatic=k.prismatic,
        dof=k.dof,
        ratio=k.ratio,
        offset=k.offset,
        gravity=robot.gravity,
        ancestor=ancestor,
        term_parameter=terms.parameter,
        term_kind=terms.kind,
        term_row=terms.row,
        term_gain=_gains(robot),
        term_direction=np.ascontiguousarray(terms.direction),
        term_constant=terms.constant,
    )


def _gains(robot: Robot) -> Array:
    """(a,) gains of the atoms at the temperature of the robot."""
    terms = robot.terms
    hot = [k > 0 and COLUMNS[k - 1][0].modulation == 'temperature' for k in terms.kind.tolist()]
    return np.where(hot, robot.heat * terms.gain, terms.gain) if any(hot) else terms.gain


def split_parameters(robot: Robot, chi: Array) -> tuple[Array, Array]:
    """
    (b,) base parameters -> inertial rows (nb, 10) and term parameters (e,) for the kernels.

    Base columns are standard columns, so the base values stand in their own places and the
    regrouped parameters are zero: the torques are the same, no physical set is needed.
    """
    chi = np.asarray(chi, float)
    if chi.shape != (len(robot.base),):
        raise ValueError(f'{robot.name}: {chi.shape} parameters, expected ({len(robot.base)},)')
    chi_st = robot.base.to_standard(chi)
    rows = np.ascontiguousarray(chi_st[robot.inertial_index])
    return rows, np.ascontiguousarray(chi_st[robot.term_index])
