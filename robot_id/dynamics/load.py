"""
Columns of friction that grows with the load: f(dq) |y|, y the torque of rigid bodies and rotors.

The load is a function of the parameters themselves. In the regressor it is that of reference
parameters (`Robot.load_reference`): then tau = W chi stays linear, and it is exact where the
reference is chi. The Jacobian of the torque by chi is the same W with the reference chi and with
the rows of rigid bodies and rotors times 1 + lambda sign(y).
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.kernels.friction import (
    atom_speed,
    has_load,
    is_load,
    load_factor,
    term_value,
)
from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.dynamics.states import Array
from robot_id.kernel_cache import njit
from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS, ROTOR


@njit(**FAST)
def load_kernel(tree, term_columns, reference, values, jacobian, DQ, slope, W):
    """
    Fill the load's columns of W (N, n, columns), whose other columns are filled.

    :param reference: (columns,) parameters that determine the load, zero for friction and offset.
    :param values: (e,) parameters of the terms, for the Jacobian.
    :param jacobian: whether the columns of rigid bodies and rotors become those of d tau/d chi.
    """
    if not has_load(tree):
        return
    n, columns = W.shape[1], W.shape[2]
    y = np.empty(n)
    rigid = np.ones(columns, np.bool_)
    for k in range(tree.term_kind.shape[0]):
        if tree.term_kind[k] != ROTOR and term_columns[tree.term_parameter[k]] >= 0:
            rigid[term_columns[tree.term_parameter[k]]] = False
    for s in range(W.shape[0]):
        for j in range(n):
            y[j] = 0.0
            for c in range(columns):
                y[j] += W[s, j, c] * reference[c]
            if jacobian:
                gain = 1.0 + load_factor(tree, values, DQ[s], slope, j) * np.sign(y[j])
                for c in range(columns):
                    if rigid[c]:
                        W[s, j, c] *= gain
        for k in range(tree.term_kind.shape[0]):
            column = term_columns[tree.term_parameter[k]]
            if column >= 0 and is_load(tree.term_kind[k]):
                x = atom_speed(tree, k, DQ[s])
                value = term_value(tree.term_kind[k], x, slope, tree.term_constant[k])
                row = tree.term_row[k]
                W[s, row, column] += tree.term_gain[k] * value * abs(y[row])


def takes_load(robot: Robot) -> bool:
    """Return whether any friction of the robot grows with the load."""
    kinds = robot.terms.kind
    return any(k != ROTOR and COLUMNS[k - 1][0].modulation == 'load' for k in kinds.tolist())


def rigid_parameters(robot: Robot, chi: Array, standard: bool = False) -> Array:
    """Return base parameters as the kernels' columns take them, friction and offset zero."""
    chi_st = robot.base.to_standard(np.asarray(chi, float))
    terms = robot.terms
    chi_st[robot.term_index[terms.parameter[terms.kind != ROTOR]]] = 0.0
    return np.ascontiguousarray(chi_st if standard else chi_st[robot.base.columns])
