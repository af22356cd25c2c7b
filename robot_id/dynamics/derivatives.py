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

    With ddq = M^-1 (tau - N): d ddq/d q = -M^-1 d tau/d q, and likewise for dq. The
    Coulomb slope of sign(dq) is zero.
    """
    single, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    chi_st = robot.representative(chi)
    model = robot.pinocchio_with(chi_st)
    data = model.createData()
    A, offset = robot.kinematics.expansion(), robot.kinematics.offset
    values = chi_st[robot.term_index]
    N, n = Q.shape
    by_q, by_dq, inertia = (np.empty((N, n, n)) for _ in range(3))
    rotors = _rotor_matrix(robot, values)
    for k in range(N):
        pin.computeRNEADerivatives(model, data, A @ Q[k] + offset, A @ DQ[k], A @ DDQ[k])
        upper = np.array(data.M)
        full = np.triu(upper) + np.triu(upper, 1).T
        by_q[k] = A.T @ data.dtau_dq @ A
        by_dq[k] = A.T @ data.dtau_dv @ A + _friction_slope(robot, values, DQ[k], coulomb_slope)
        inertia[k] = A.T @ full @ A + rotors
    if single:
        return by_q[0], by_dq[0], inertia[0]
    return by_q, by_dq, inertia


def _rotor_matrix(robot: Robot, values: Array) -> Array:
    terms, M = robot.terms, np.zeros((robot.n, robot.n))
    for k in np.flatnonzero(terms.kind == Kind.INERTIA):
        M[terms.row[k]] += values[terms.parameter[k]] * terms.gain[k] * terms.direction[k]
    return M


def _friction_slope(robot: Robot, values: Array, dq: Array, slope: float | None) -> Array:
    """(n, n) d friction / d dq."""
    terms, D = robot.terms, np.zeros((robot.n, robot.n))
    for k in range(len(terms.kind)):
        kind, x = terms.kind[k], terms.direction[k] @ dq
        if kind in (Kind.INERTIA, Kind.OFFSET):
            continue
        smooth = 0.0 if slope is None else 2.0 / np.pi * slope / (1.0 + (slope * x) ** 2)
        rate = {
            Kind.VISCOUS: 1.0,
            Kind.COULOMB: smooth,
            Kind.VISCOUS_POSITIVE: float(x > 0),
            Kind.VISCOUS_NEGATIVE: float(x < 0),
            Kind.COULOMB_POSITIVE: smooth * (x > 0),
            Kind.COULOMB_NEGATIVE: smooth * (x < 0),
        }[Kind(kind)]
        gain = values[terms.parameter[k]] * terms.gain[k] * rate
        D[terms.row[k]] += gain * terms.direction[k]
    return D
