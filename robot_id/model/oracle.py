"""The standard regressor state by state, from pinocchio: the source of the base parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.model.friction import COLUMNS, ROTOR
from robot_id.model.inertia import FROM_PINOCCHIO
from robot_id.model.kinematics import to_pinocchio
from robot_id.model.terms import Terms

if TYPE_CHECKING:
    from robot_id.model.robot import Robot

Array = NDArray[np.float64]


def standard_regressor(
    robot: Robot,
    q: Array,
    dq: Array,
    ddq: Array,
    load: Array | None = None,
    heat: Array | None = None,
    unit_constants: bool = False,
) -> Array:
    """
    (N, n, s) standard regressor of (N, n) states, with sign(dq).

    :param load: (s,) parameters that determine the load of load-dependent friction; None for ones.
    :param heat: (N, n) temperatures less the reference temperature; None for zeros.
    :param unit_constants: constants of friction terms count as 1: the dependence of columns is the
        same for all constants, and a small Stribeck velocity would hide its column.
    """
    A = robot.kinematics.expansion()
    model = to_pinocchio(robot.kinematics, robot.gravity, np.zeros((len(A), 10)))
    data = model.createData()
    permutation = np.concatenate([10 * i + FROM_PINOCCHIO for i in range(len(A))])
    W = np.zeros((len(q), robot.n, len(robot.standard_names)))
    heat = np.zeros_like(q) if heat is None else heat
    terms = robot.terms
    if unit_constants:
        terms = replace(terms, constant=np.ones_like(terms.constant))
    for k in range(len(q)):
        body_q = A @ q[k] + robot.kinematics.offset
        full = pin.computeJointTorqueRegressor(model, data, body_q, A @ dq[k], A @ ddq[k])
        full = np.reshape(full, (len(A), -1))
        W[k][:, robot.inertial_index.ravel()] = A.T @ full[:, permutation]
        for rotor, columns, weights in robot.direct_columns:
            W[k][:, rotor] = W[k][:, columns] @ weights
        _add_rotors(W[k], robot.terms, robot.term_index, ddq[k])
        y = W[k].sum(axis=1) if load is None else W[k] @ load
        _add_friction(W[k], terms, robot.term_index, dq[k], np.abs(y), heat[k])
    return W


def random_regressor(robot: Robot) -> Array:
    """(r, s) standard regressor of random states, with several times more rows than columns."""
    rng = np.random.default_rng(0)
    n, s = robot.n, len(robot.standard_names)
    shape = (max(60, 6 * s // n), n)
    states = rng.uniform(-np.pi, np.pi, shape), rng.normal(0, 2, shape), rng.normal(0, 5, shape)
    heat = rng.normal(0, 10, shape)
    return standard_regressor(robot, *states, heat=heat, unit_constants=True).reshape(-1, s)


def _add_rotors(W: Array, terms: Terms, columns: NDArray[np.int64], ddq: Array) -> None:
    """Add the columns of geared rotors at one state to W (n, s)."""
    for k in np.flatnonzero(terms.kind == ROTOR):
        W[terms.row[k], columns[terms.parameter[k]]] += terms.gain[k] * terms.direction[k] @ ddq


def _add_friction(
    W: Array, terms: Terms, columns: NDArray[np.int64], dq: Array, load: Array, heat: Array
) -> None:
    """Add the columns of friction and offset at one state to W (n, s)."""
    for k in np.flatnonzero(terms.kind != ROTOR):
        term, column = COLUMNS[terms.kind[k] - 1]
        row, x = terms.row[k], terms.direction[k] @ dq
        value = column.value(x, np.sign(x), terms.constant[k])
        value *= {'none': 1.0, 'load': load[row], 'temperature': heat[row]}[term.modulation]
        W[row, columns[terms.parameter[k]]] += terms.gain[k] * value
