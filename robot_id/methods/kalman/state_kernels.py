"""Compiled state-space model: accelerations and their Jacobian."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.generated.pointer import derivatives_at, state_at
from robot_id.dynamics.kernels import tangent
from robot_id.dynamics.kernels.friction import add_rotors
from robot_id.dynamics.kernels.models import acceleration, cholesky, cholesky_solve, scratch
from robot_id.dynamics.kernels.regressor import column_maps, regressor_kernel
from robot_id.dynamics.kernels.rigid_body import FAST, composite, poses
from robot_id.dynamics.kernels.tree import Tree, tree_of
from robot_id.dynamics.load import load_kernel, rigid_parameters, takes_load
from robot_id.kernel_cache import njit
from robot_id.robot import Robot

Array = NDArray[np.float64]


class Model(NamedTuple):
    """
    A robot as the kernels of this file need it.

    :param tree: kinematics and terms.
    :param forms: (b, 10 nb + e) what the rigid-body kernels take is chi @ forms.
    :param bodies: (nb, 10) base columns of the inertial parameters, -1 where none.
    :param terms: (e,) base columns of the terms.
    :param factor: (b,) scale of renamed base parameters.
    :param rigid: (b,) 1 for parameters of rigid bodies and rotors, 0 for friction and offset.
    :param code: (4,) addresses of the generated direct model, derivatives, regressor and inertia
        matrix, 0 for the generic kernels.
    :param load: (b,) parameters that tell the load of friction, empty where none grows with it.
    """

    tree: Tree
    forms: Array
    bodies: NDArray[np.int64]
    terms: NDArray[np.int64]
    factor: Array
    rigid: Array
    code: NDArray[np.int64]
    load: Array


_CODE = ('direct_dynamics', 'derivatives', 'regressor', 'inertia_matrix')
DIRECT, DERIVATIVES, REGRESSOR, INERTIA = range(len(_CODE))


def model_of(robot: Robot, slope: float | None = None, linear: bool = False) -> Model:
    """
    Return the arrays of a robot.

    :param slope: of the friction in a filter that will run for long, which uses generated code;
        None for the generic kernels.
    :param linear: for `regressor`: the load of friction is that of reference parameters.
    """
    units = [robot.base.to_standard(chi) for chi in np.eye(len(robot.base))]
    forms = [np.concatenate([u[robot.inertial_index].ravel(), u[robot.term_index]]) for u in units]
    bodies, terms, _ = column_maps(robot, False)
    rigid = np.sign(rigid_parameters(robot, robot.base.factor))
    code = np.zeros(len(_CODE), np.int64)
    if slope is not None and not takes_load(robot):
        found = [code_for(robot, name, slope) for name in _CODE]
        if all(found):
            code[:] = [each.address for each in found if each is not None]
    load = np.empty(0)
    if linear and takes_load(robot):
        load = rigid_parameters(robot, robot.load_reference())
    factor = np.array(robot.base.factor)
    return Model(tree_of(robot), np.array(forms), bodies, terms, factor, rigid, code, load)


def regressor(model: Model, q: Array, dq: Array, ddq: Array, slope: float) -> Array:
    """Return what dynamics.regressor does, (N, n, b), with less to do per call for one sample."""
    W = np.zeros((q.shape[0], q.shape[1], model.factor.size))
    regressor_kernel(model.tree, model.bodies, model.terms, q, dq, ddq, slope, W)
    if model.load.size:
        load_kernel(model.tree, model.terms, model.load, np.empty(0), False, dq, slope, W)
    W /= model.factor
    return W


@njit(**FAST)
def _parameters(model, chi):  # type: ignore[no-untyped-def]
    """Return the inertial rows (nb, 10) and the term parameters (e,)."""
    nb = model.tree.parent.shape[0]
    form = np.dot(chi, model.forms)
    return form[: 10 * nb].copy().reshape(nb, 10), form[10 * nb :].copy()


@njit(**FAST)
def _solve_rows(M, X):  # type: ignore[no-untyped-def]
    """Overwrite X (n, m) by M^-1 X with the Cholesky factor of M; False if not positive."""
    n, m = X.shape
    if not cholesky(M):
        return False
    for i in range(n):
        for k in range(i):
            for c in range(m):
                X[i, c] -= M[i, k] * X[k, c]
        for c in range(m):
            X[i, c] /= M[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for c in range(m):
                X[i, c] -= M[k, i] * X[k, c]
        for c in range(m):
            X[i, c] /= M[i, i]
    return True


@njit(**FAST)
def linearise(model, z, tau, slope, ddq, J):  # type: ignore[no-untyped-def]
    """
    Fill ddq (n,) and its derivative J (n, 2n + b) by [dq q chi]; False if M(q) is not positive.

    d ddq/d chi = -M^-1 Phi(q, dq, ddq); with load, each row is divided by its gain.
    """
    n, total = J.shape
    dq, q, chi = z[:n].copy(), z[n : 2 * n].copy(), z[2 * n :].copy()
    by_q, by_dq, M = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    if model.code[DIRECT] != 0:
        W = np.empty((n, total - 2 * n))
        if not state_at(model.code[DIRECT], chi, slope, q, dq, tau, ddq) or not _finite(ddq):
            return False
        derivatives_at(model.code[DERIVATIVES], chi, slope, q, dq, ddq, by_q, by_dq, M)
        state_at(model.code[REGRESSOR], chi, slope, q, dq, ddq, W)
        J[:, :n] = -by_dq
        J[:, n : 2 * n] = -by_q
        J[:, 2 * n :] = -W
        return _solve_rows(M, J)
    return _linearise_generic(model, q, dq, chi, tau, slope, ddq, by_q, by_dq, M, J)


@njit(**FAST)
def _finite(x):  # type: ignore[no-untyped-def]
    return np.isfinite(x).all()


@njit(**FAST)
def _linearise_generic(model, q, dq, chi, tau, slope, ddq, by_q, by_dq, M, J):  # type: ignore[no-untyped-def]
    """`linearise` by the generic kernels; by_q, by_dq, M (n, n) are scratch."""
    n, total = J.shape
    inertia, values = _parameters(model, chi)
    tree = model.tree
    work = scratch(tree.parent.shape[0], n)
    if not acceleration(tree, inertia, values, q, dq, tau, slope, work, ddq) or not _finite(ddq):
        return False
    gain = np.empty(n)
    tangent.derivatives(tree, inertia, values, q, dq, ddq, slope, by_q, by_dq, M, gain)
    W = np.zeros((1, n, total - 2 * n))
    row = dq.reshape(1, n)
    regressor_kernel(
        tree, model.bodies, model.terms, q.reshape(1, n), row, ddq.reshape(1, n), slope, W
    )
    load_kernel(tree, model.terms, chi / model.factor * model.rigid, values, True, row, slope, W)
    for i in range(n):
        for j in range(n):
            J[i, j] = -by_dq[i, j] / gain[i]
            J[i, n + j] = -by_q[i, j] / gain[i]
        for j in range(total - 2 * n):
            J[i, 2 * n + j] = -W[0, i, j] / (model.factor[j] * gain[i])
    return _solve_rows(M, J)


@njit(**FAST)
def accelerations(model, Z, tau, slope, out):  # type: ignore[no-untyped-def]
    """Fill out (P, n), each state with its own parameters; False if an M(q) is not positive."""
    if model.code[DIRECT] == 0:
        return _accelerations_generic(model, Z, tau, slope, out)
    n = out.shape[1]
    for s in range(Z.shape[0]):
        dq, q, chi = Z[s, :n].copy(), Z[s, n : 2 * n].copy(), Z[s, 2 * n :].copy()
        good = state_at(model.code[DIRECT], chi, slope, q, dq, tau, out[s])
        if not good or not _finite(out[s]):
            return False
    return True


@njit(**FAST)
def _accelerations_generic(model, Z, tau, slope, out):  # type: ignore[no-untyped-def]
    """`accelerations` by the generic kernels."""
    n = out.shape[1]
    work = scratch(model.tree.parent.shape[0], n)
    for s in range(Z.shape[0]):
        dq, q, chi = Z[s, :n].copy(), Z[s, n : 2 * n].copy(), Z[s, 2 * n :].copy()
        inertia, values = _parameters(model, chi)
        good = acceleration(model.tree, inertia, values, q, dq, tau, slope, work, out[s])
        if not good or not _finite(out[s]):
            return False
    return True


@njit(**FAST)
def positive(model, chi, configurations):  # type: ignore[no-untyped-def]
    """Return whether M(q) of chi is positive definite in all (K, n) configurations."""
    nb, n = model.tree.parent.shape[0], configurations.shape[1]
    inertia, values = _parameters(model, chi)
    R, p, C = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 10))
    M, nothing = np.empty((n, n)), np.zeros(n)
    for k in range(configurations.shape[0]):
        q = configurations[k]
        if model.code[INERTIA] != 0:
            state_at(model.code[INERTIA], chi, 0.0, q, q, q, M)
        else:
            poses(model.tree, q, R, p)
            composite(model.tree, inertia, R, p, C, M)
            add_rotors(model.tree, values, M)
        if not cholesky_solve(M, nothing):
            return False
    return True


@njit(**FAST)
def step_back(model, chi, good, configurations):  # type: ignore[no-untyped-def]
    """Halve the way from good to chi, in place, until M(q) is positive; False if chi was."""
    if positive(model, chi, configurations):
        return False
    for _ in range(30):
        for j in range(chi.shape[0]):
            chi[j] = good[j] + 0.5 * (chi[j] - good[j])
        if positive(model, chi, configurations):
            return True
    chi[:] = good
    return True
