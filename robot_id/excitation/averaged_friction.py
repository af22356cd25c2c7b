"""
Coulomb friction for a coarse grid: sign(dq) averaged over the time between samples.

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

    def at(self, dq: Array, ddq: Array) -> AveragedSigns:
        """Return the averaged signs of a motion, (N, n) each."""
        return AveragedSigns(self, dq @ self.direction.T, ddq @ self.direction.T)


class AveragedSigns:
    """
    s = m / rms(m) of the speeds x of all terms along a motion.

    :param friction: the terms.
    :param x: (N, a) speeds of the terms.
    :param gain: (N, a) their changes, dx/dt.
    """

    def __init__(self, friction: AveragedFriction, x: Array, gain: Array) -> None:
        self.friction, self.x = friction, x
        change = friction.half * gain
        width = change * change + friction.rest**2
        square = x * x + width
        size = np.sqrt(square)
        m = x / size
        self.rms = np.maximum(np.sqrt(np.mean(m * m, axis=0)), 1e-12)
        self.s = m / self.rms
        cube = square * size
        self.by_speed = width / cube
        self.by_gain = -friction.half * x * change / cube

    def replace(self, W: Array) -> None:
        """Overwrite the columns of W (N, n, b)."""
        own = self.friction
        W[:, own.rows, own.columns] = 0.0
        for a, (row, column) in enumerate(zip(own.rows, own.columns)):
            value = own.functions[a].value(self.x[:, a], self.s[:, a], own.constant[a])
            W[:, row, column] += own.gain[a] * value

    def add_slopes(self, G: Array, by_dq: Array, by_ddq: Array) -> None:
        """
        Add the effect of these columns on by_dq, by_ddq (N, n), from G = df/dW (N, n, b).

        The effect that `regressor_slopes` added for them, with the exact sign, is removed.
        """
        own, x, s = self.friction, self.x, self.s
        weight = own.gain * G[:, own.rows, own.columns]
        direct, by_s = np.zeros_like(x), np.zeros_like(x)
        for a, function in enumerate(own.functions):
            sharp, _ = function.slopes(x[:, a], np.sign(x[:, a]), own.constant[a])
            direct[:, a], by_s[:, a] = function.slopes(x[:, a], s[:, a], own.constant[a])
            direct[:, a] -= sharp
        by_s *= weight
        by_s = (by_s - s * np.mean(by_s * s, axis=0)) / self.rms
        by_dq += (by_s * self.by_speed + weight * direct) @ own.direction
        by_ddq += (by_s * self.by_gain) @ own.direction
