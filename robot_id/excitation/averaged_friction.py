"""
Coulomb friction as a coarse grid should see it: sign(dq) averaged over the time between samples.

sign(dq) jumps where a sample changes sides, which stops a gradient search; a smooth friction of
one width for all would reward joints that creep. Between two samples h apart dq is nearly
dq + ddq s, |s| <= h/2, and the mean of its sign changes sides with a slope of 2 / (h |ddq|). Here
m = dq / sqrt(dq^2 + (h ddq / 4)^2), about twice as steep: a joint that creeps at a constant speed
has m = +-1, as in the figures on a fine grid. sign(dq) has the mean square 1 however often it
changes; m is divided by its own root mean square, or reversals would make the column smaller.
"""

from __future__ import annotations

import numpy as np

from robot_id.model import Robot
from robot_id.model.friction import COLUMNS, ROTOR
from robot_id.trajectory.trajectory import Array

_AT_REST = 1e-4


class AveragedFriction:
    """
    The columns of W that depend on the sign of a speed, with the averaged sign, and their slopes.

    :param robot: whose friction it is.
    :param step: h, seconds between samples.
    :param velocity: (n,) largest speeds; below a 1e-4 part of them a joint is at rest.
    """

    def __init__(self, robot: Robot, step: float, velocity: Array) -> None:
        terms = robot.terms
        place = {int(column): i for i, column in enumerate(robot.base.columns)}
        found = [
            (k, place[parameter])
            for k, parameter in enumerate(robot.term_index[terms.parameter].tolist())
            if parameter in place
            and terms.kind[k] != ROTOR
            and COLUMNS[terms.kind[k] - 1][1].jumps
            and COLUMNS[terms.kind[k] - 1][0].modulation == 'none'
        ]
        atoms = np.array([k for k, _ in found], int)
        self.half = 0.25 * step
        self.columns = np.array([column for _, column in found], int)
        self.rows = terms.row[atoms]
        self.direction = terms.direction[atoms]
        self.functions = [COLUMNS[terms.kind[k] - 1][1] for k in atoms]
        self.constant = terms.constant[atoms]
        self.gain = terms.gain[atoms] / robot.base.factor[self.columns]
        self.rest = _AT_REST * np.abs(self.direction) @ velocity

    def replace(self, W: Array, dq: Array, ddq: Array) -> None:
        """Overwrite the columns of W (N, n, b)."""
        x = dq @ self.direction.T
        m, rms, _, _ = self._mean(dq, ddq)
        W[:, self.rows, self.columns] = 0.0
        for a, (row, column) in enumerate(zip(self.rows, self.columns)):
            value = self.functions[a].value(x[:, a], m[:, a] / rms[a], self.constant[a])
            W[:, row, column] += self.gain[a] * value

    def add_slopes(self, G: Array, dq: Array, ddq: Array, by_dq: Array, by_ddq: Array) -> None:
        """
        Add to by_dq, by_ddq (N, n) what these columns make of G = df/dW (N, n, b).

        What `regressor_slopes` said of them, with the sharp sign, is taken back.
        """
        x = dq @ self.direction.T
        m, rms, by_speed, by_gain = self._mean(dq, ddq)
        s = m / rms
        weight = self.gain * G[:, self.rows, self.columns]
        direct, by_s = np.zeros_like(x), np.zeros_like(x)
        for a, function in enumerate(self.functions):
            sharp, _ = function.slopes(x[:, a], np.sign(x[:, a]), self.constant[a])
            direct[:, a], by_s[:, a] = function.slopes(x[:, a], s[:, a], self.constant[a])
            direct[:, a] -= sharp
        by_s *= weight
        by_s = (by_s - s * np.mean(by_s * s, axis=0)) / rms
        by_dq += (by_s * by_speed + weight * direct) @ self.direction
        by_ddq += (by_s * by_gain) @ self.direction

    def _mean(self, dq: Array, ddq: Array) -> tuple[Array, Array, Array, Array]:
        """Return m (N, a), its root mean square (a,), its slopes in speed and acceleration."""
        x, change = dq @ self.direction.T, self.half * (ddq @ self.direction.T)
        width = change**2 + self.rest**2
        size = np.sqrt(x**2 + width)
        m = x / size
        rms = np.maximum(np.sqrt(np.mean(m**2, axis=0)), 1e-12)
        cube = size**3
        return m, rms, width / cube, -x * change * self.half / cube
