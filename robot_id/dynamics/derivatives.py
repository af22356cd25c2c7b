"""Analytic derivatives of the inverse model, by pinocchio, with the slope of the friction."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from robot_id.dynamics.states import Array, as_states
from robot_id.model import Robot
from robot_id.model.terms import Kind


def derivatives(
    robot: Robot, chi: Array, q: Array, dq: Array, ddq: Array, coulomb_slope: float | None = None
) -> tuple[Array, Array, Array]:
    """
    Return d tau/d q, d tau/d dq and M(q), (N, n, n) each or (n, n) for a single state.

    With ddq = M^-1 (tau - N): d ddq/d q = -M^-1 d tau/d q, and likewise for dq. The slope of
    sign(dq) is zero.
    """
    single, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    chi_st = robot.representative(chi)
    model = robot.pinocchio_with(chi_st)
    data = model.createData()
    A, offset = robot.kinematics.expansion(), robot.kinematics.offset
    nb = A.shape[0]
    body_q, body_dq, body_ddq = Q @ A.T + offset, DQ @ A.T, DDQ @ A.T
    by_q, by_dq, upper = (np.empty((len(Q), nb, nb)) for _ in range(3))
    for k in range(len(Q)):
        pin.computeRNEADerivatives(model, data, body_q[k], body_dq[k], body_ddq[k])
        by_q[k], by_dq[k], upper[k] = data.dtau_dq, data.dtau_dv, data.M
    full = np.triu(upper) + np.triu(upper, 1).transpose(0, 2, 1)
    if not np.array_equal(A, np.eye(nb)):
        by_q, by_dq, full = (A.T @ x @ A for x in (by_q, by_dq, full))
    values = chi_st[robot.term_index]
    by_dq += friction_slope(robot, values, DQ, coulomb_slope)
    full += rotor_matrix(robot, values)
    if single:
        return by_q[0], by_dq[0], full[0]
    return by_q, by_dq, full


def rotor_matrix(robot: Robot, values: Array) -> Array:
    """(n, n) what the rotors add to M, from the (e,) parameters of the terms."""
    terms, M = robot.terms, np.zeros((robot.n, robot.n))
    for k in np.flatnonzero(terms.kind == Kind.INERTIA):
        M[terms.row[k]] += values[terms.parameter[k]] * terms.gain[k] * terms.direction[k]
    return M


def friction_slope(robot: Robot, values: Array, dq: Array, slope: float | None) -> Array:
    """(N, n, n) d friction / d dq at the speeds dq (N, n)."""
    terms = robot.terms
    D = np.zeros((len(dq), robot.n, robot.n))
    for k in np.flatnonzero((terms.kind != Kind.INERTIA) & (terms.kind != Kind.OFFSET)):
        kind, x = Kind(terms.kind[k]), dq @ terms.direction[k]
        if kind in (Kind.VISCOUS, Kind.VISCOUS_POSITIVE, Kind.VISCOUS_NEGATIVE):
            rate = np.ones(len(dq))
        elif slope is None:
            continue
        else:
            rate = 2.0 / np.pi * slope / (1.0 + (slope * x) ** 2)
        if kind in (Kind.VISCOUS_POSITIVE, Kind.COULOMB_POSITIVE):
            rate = rate * (x > 0.0)
        elif kind in (Kind.VISCOUS_NEGATIVE, Kind.COULOMB_NEGATIVE):
            rate = rate * (x < 0.0)
        gain = values[terms.parameter[k]] * terms.gain[k] * rate
        D[:, terms.row[k]] += gain[:, None] * terms.direction[k]
    return D
