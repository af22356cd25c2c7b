"""
How a function of the regressor changes with the states, by one sweep back through the tree.

With f = sum_k W_k . G_k, W_k the regressor of sample k, this gives df/dq, df/d(dq), df/d(ddq) of
all samples at less than twice the cost of W itself, whatever the number of joints.
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.regressor import column_maps
from robot_id.dynamics.kernels.regressor_slopes import slopes_kernel
from robot_id.dynamics.kernels.tree import tree_of
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.robot import Robot


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
