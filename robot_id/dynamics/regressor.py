"""
The regressor of N samples at once, tau = W chi, and how it changes with the states.

The slopes are one sweep back through the tree: with f = sum_k W_k . G_k, W_k the regressor of
sample k, this gives df/dq, df/d(dq), df/d(ddq) of all samples at less than twice the cost of W
itself, whatever the number of joints.
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.regressor import column_maps, regressor_kernel
from robot_id.dynamics.kernels.regressor_slopes import slopes_kernel
from robot_id.dynamics.kernels.tree import Tree, split_parameters, tree_of
from robot_id.dynamics.load import load_kernel, rigid_parameters, takes_load
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.robot import Robot


def regressor(
    robot: Robot,
    q: Array,
    dq: Array,
    ddq: Array,
    coulomb_slope: float | None = None,
    standard: bool = False,
    out: Array | None = None,
    calls: int = 1,
    tree: Tree | None = None,
) -> Array:
    """
    Return W with tau = W chi.

    :param q: (N, n) positions, or (n,) for a single state; dq, ddq likewise.
    :param coulomb_slope: None for sign(dq), alpha for 2/pi atan(alpha dq).
    :param standard: all standard columns instead of the base columns.
    :param out: (N, n, b) array to fill, which saves the page faults of fresh memory.
    :param calls: expected number of such calls: generated code also pays for many small ones.
    :param tree: arrays of the robot with another gravity or other lengths, for standard columns;
        None for its own.
    :return: (N, n, b), or (n, b) for a single state.
    """
    single, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    bodies, terms, count = column_maps(robot, standard)
    W = np.empty((Q.shape[0], robot.n, count)) if out is None else out
    if W.shape != (Q.shape[0], robot.n, count) or not W.flags.c_contiguous or W.dtype != float:
        raise ValueError(f'out is {W.dtype} {W.shape}, not float ({len(Q)}, {robot.n}, {count})')
    slope = slope_value(coulomb_slope)
    loaded = takes_load(robot)
    code = None if standard or loaded else code_for(robot, 'regressor', slope, calls * len(Q))
    if code is not None:
        code(None, slope, (Q, DQ, DDQ), (W,))
        return W[0] if single else W
    assert tree is None or (standard and not loaded)
    regressor_kernel(tree or tree_of(robot), bodies, terms, Q, DQ, DDQ, slope, W)
    if loaded:
        reference = rigid_parameters(robot, robot.load_reference(), standard)
        load_kernel(tree_of(robot), terms, reference, np.empty(0), False, DQ, slope, W)
    if standard:
        for rotor, columns, weights in robot.direct_columns:
            W[:, :, rotor] = W[:, :, columns] @ weights
    elif np.any(robot.base.factor != 1.0):
        W /= robot.base.factor
    return W[0] if single else W


def parameter_jacobian(
    robot: Robot, chi: Array, q: Array, dq: Array, ddq: Array, coulomb_slope: float | None = None
) -> Array:
    """
    Return d tau/d chi at chi, (N, n, b): the regressor, unless friction grows with the load.

    :param chi: (b,) base parameters.
    """
    if not takes_load(robot):
        return regressor(robot, q, dq, ddq, coulomb_slope)
    single, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    bodies, terms, count = column_maps(robot, False)
    W, slope, tree = np.empty((len(Q), robot.n, count)), slope_value(coulomb_slope), tree_of(robot)
    regressor_kernel(tree, bodies, terms, Q, DQ, DDQ, slope, W)
    values = split_parameters(robot, chi)[1]
    load_kernel(tree, terms, rigid_parameters(robot, chi), values, True, DQ, slope, W)
    W /= robot.base.factor
    return W[0] if single else W


def regressor_slopes(
    robot: Robot,
    q: Array,
    dq: Array,
    ddq: Array,
    G: Array,
    coulomb_slope: float | None = None,
    calls: int = 1,
) -> tuple[Array, Array, Array]:
    """
    Return df/dq, df/d(dq), df/d(ddq) of f = sum over samples of W . G, (N, n) each.

    :param q: (N, n) positions; dq, ddq likewise.
    :param G: (N, n, b) df/dW, W the base regressor.
    :param coulomb_slope: None for sign(dq), whose slope is zero, alpha for 2/pi atan(alpha dq).
    :param calls: expected number of such calls, see `regressor`.
    """
    _, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    slope = slope_value(coulomb_slope)
    by_q, by_dq, by_ddq = (np.empty_like(Q) for _ in range(3))
    code = code_for(robot, 'regressor_slopes', slope, calls * len(Q))
    if code is not None:
        G = np.ascontiguousarray(G, float)
        code(None, slope, (Q, DQ, DDQ, G), (by_q, by_dq, by_ddq))
        return by_q, by_dq, by_ddq
    bodies, terms, _ = column_maps(robot, False)
    factor = robot.base.factor
    G = np.ascontiguousarray(G if np.all(factor == 1.0) else G / factor)
    slopes_kernel(tree_of(robot), bodies, terms, Q, DQ, DDQ, slope, G, by_q, by_dq, by_ddq)
    return by_q, by_dq, by_ddq
