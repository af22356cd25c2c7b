"""How steep friction is where the speed changes its sign."""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.inverse import bias
from robot_id.dynamics.kernels.tree import split_parameters
from robot_id.dynamics.states import Array
from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS, ROTOR, Column
from robot_id.robot.friction.functions import smooth_sign, smooth_sign_slope

_BESIDE = 1e-9


def friction_at_rest(robot: Robot, chi: Array, postures: Array, slope: float) -> Array:
    """
    (n, n) d friction / d dq at rest, on the steeper side; the load is the weight in the postures.

    :param chi: (b,) base parameters.
    :param postures: (K, n).
    :param slope: alpha of the smooth friction.
    """
    values, terms = split_parameters(robot, chi)[1], robot.terms
    weight = np.abs(bias(robot, chi, postures, np.zeros_like(postures), slope)).max(axis=0)
    D = np.zeros((robot.n, robot.n))
    for k in np.flatnonzero(terms.kind != ROTOR):
        term, column = COLUMNS[terms.kind[k] - 1]
        rate = max(_rate(column, x, slope, terms.constant[k]) for x in (-_BESIDE, _BESIDE))
        if term.modulation == 'load':
            rate *= weight[terms.row[k]]
        D[terms.row[k]] += values[terms.parameter[k]] * terms.gain[k] * rate * terms.direction[k]
    return D


def _rate(column: Column, x: float, slope: float, constant: float) -> float:
    by_x, by_s = column.slopes(x, smooth_sign(x, slope), constant)
    return float(by_x + by_s * smooth_sign_slope(x, slope))
