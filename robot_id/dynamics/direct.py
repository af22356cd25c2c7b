"""Direct dynamics ddq = M(q)^-1 (tau - N(q, dq)) from base parameters."""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.cholesky import cholesky_solve
from robot_id.dynamics.kernels.friction import add_rotors, remove_friction
from robot_id.dynamics.kernels.rigid_body import (
    FAST,
    INLINED,
    composite,
    motions,
    newton_euler,
    poses,
)
from robot_id.dynamics.kernels.tree import split_parameters, tree_of
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.exceptions import SimulationError
from robot_id.kernel_cache import njit
from robot_id.robot import Robot


@njit(**FAST)
def scratch(nb, n):
    """Return the work arrays of `acceleration`."""
    return (
        np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)),
        np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 10)),
        np.empty((n, n)), np.empty(n), np.zeros(n),
    )  # fmt: skip


@njit(**INLINED)
def acceleration(tree, inertia, values, q, dq, tau, slope, work, ddq):
    """Fill ddq (n,); return False if M(q) is not positive definite."""
    R, p, w, dw, a, force, moment, C, M, N, still = work
    poses(tree, q, R, p)
    motions(tree, R, p, dq, still, w, dw, a)
    newton_euler(tree, inertia, R, p, w, dw, a, force, moment, N)
    composite(tree, inertia, R, p, C, M)
    add_rotors(tree, values, M)
    for j in range(q.shape[0]):
        ddq[j] = tau[j]
    remove_friction(tree, values, dq, slope, ddq)
    for j in range(q.shape[0]):
        ddq[j] -= N[j]
    return cholesky_solve(M, ddq)


@njit(**FAST)
def _direct(tree, inertia, values, Q, DQ, tau, slope, DDQ):
    work = scratch(tree.parent.shape[0], Q.shape[1])
    for s in range(Q.shape[0]):
        if not acceleration(tree, inertia, values, Q[s], DQ[s], tau[s], slope, work, DDQ[s]):
            return s
    return -1


def direct_dynamics(
    robot: Robot, chi: Array, q: Array, dq: Array, tau: Array, coulomb_slope: float | None = None
) -> Array:
    """
    Return the accelerations under the torques tau, (N, n) or (n,).

    :param chi: (b,) base parameters; SimulationError where M(q) is not positive definite.
    """
    single, (Q, DQ, T) = as_states(robot, q, dq, tau)
    inertia, values = split_parameters(robot, chi)
    DDQ, slope = np.empty_like(Q), slope_value(coulomb_slope)
    code = code_for(robot, 'direct_dynamics', slope, len(Q))
    if code is None:
        failed = _direct(tree_of(robot), inertia, values, Q, DQ, T, slope, DDQ)
    else:
        failed = code(chi, slope, (Q, DQ, T), (DDQ,))
    if failed >= 0:
        raise SimulationError(
            f'{robot.name}: M(q) is not positive definite at sample {failed}, q = '
            f'{np.array2string(Q[failed], precision=3)}',
            code='not_positive_definite',
        )
    return DDQ[0] if single else DDQ
