"""The standard regressor state by state, from pinocchio: the source of the base parameters."""

from __future__ import annotations

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


def standard_regressor(robot: Robot, q: Array, dq: Array, ddq: Array) -> Array:
    """(N, n, s) standard regressor of (N, n) states, with sign(dq)."""
    A = robot.kinematics.expansion()
    model = to_pinocchio(robot.kinematics, robot.gravity, np.zeros((len(A), 10)))
    data = model.createData()
    permutation = np.concatenate([10 * i + FROM_PINOCCHIO for i in range(len(A))])
    W = np.zeros((len(q), robot.n, len(robot.standard_names)))
    for k in range(len(q)):
        body_q = A @ q[k] + robot.kinematics.offset
        full = pin.computeJointTorqueRegressor(model, data, body_q, A @ dq[k], A @ ddq[k])
        full = np.reshape(full, (len(A), -1))
        W[k][:, robot.inertial_index.ravel()] = A.T @ full[:, permutation]
        for rotor, columns, weights in robot.direct_columns:
            W[k][:, rotor] = W[k][:, columns] @ weights
        _add_terms(W[k], robot.terms, robot.term_index, dq[k], ddq[k])
    return W


def random_regressor(robot: Robot) -> Array:
    """(r, s) standard regressor of random states, with several times more rows than columns."""
    rng = np.random.default_rng(0)
    n, s = robot.n, len(robot.standard_names)
    shape = (max(60, 6 * s // n), n)
    states = rng.uniform(-np.pi, np.pi, shape), rng.normal(0, 2, shape), rng.normal(0, 5, shape)
    return standard_regressor(robot, *states).reshape(-1, s)


def _add_terms(W: Array, terms: Terms, columns: NDArray[np.int64], dq: Array, ddq: Array) -> None:
    """Add the rotor, friction and offset columns of one state to W (n, s)."""
    for k, kind in enumerate(terms.kind):
        c = terms.direction[k]
        if kind == ROTOR:
            value = c @ ddq
        else:
            x = c @ dq
            value = COLUMNS[kind - 1][1].value(x, np.sign(x), terms.constant[k])
        W[terms.row[k], columns[terms.parameter[k]]] += terms.gain[k] * value
