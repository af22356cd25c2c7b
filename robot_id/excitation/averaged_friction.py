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
from robot_id.model.terms import Kind
from robot_id.trajectory.trajectory import Array

_AT_REST = 1e-4
_SIDE = {Kind.COULOMB: 0.0, Kind.COULOMB_POSITIVE: 1.0, Kind.COULOMB_NEGATIVE: -1.0}


class AveragedFriction:
    """
    The Coulomb columns of W with the averaged sign, and their slopes.

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
            if terms.kind[k] in _SIDE and parameter in place
        ]
        atoms = np.array([k for k, _ in found], int)
        self.half = 0.25 * step
        self.columns = np.array([column for _, column in found], int)
        self.rows = terms.row[atoms]
        self.direction = terms.direction[atoms]
        self.side = np.array([_SIDE[Kind(kind)] for kind in terms.kind[atoms]])
        # A column may be for one direction only: max(m, 0) on average is (m + 1) / 2.
        self.gain = terms.gain[atoms] / robot.base.factor[self.columns]
        self.gain = self.gain * np.where(self.side == 0.0, 1.0, 0.5)
        self.rest = _AT_REST * np.abs(self.direction) @ velocity

    def replace(self, W: Array, dq: Array, ddq: Array) -> None:
        """Overwrite the Coulomb columns of W (N, n, b)."""
        m, rms, _, _ = self._mean(dq, ddq)
        values = self.gain * (m / rms + self.side)
        W[:, self.rows, self.columns] = 0.0
        for a, (row, column) in enumerate(zip(self.rows, self.columns)):
            W[:, row, column] += values[:, a]

    def add_slopes(self, G: Array, dq: Array, ddq: Array, by_dq: Array, by_ddq: Array) -> None:
        """Add to by_dq, by_ddq (N, n) what the Coulomb columns make of G = df/dW (N, n, b)."""
        m, rms, by_speed, by_gain = self._mean(dq, ddq)
        along = m / rms
        weight = self.gain * G[:, self.rows, self.columns]
        weight = (weight - along * np.mean(weight * along, axis=0)) / rms
        by_dq += (weight * by_speed) @ self.direction
        by_ddq += (weight * by_gain) @ self.direction

    def _mean(self, dq: Array, ddq: Array) -> tuple[Array, Array, Array, Array]:
        """Return m (N, a), its root mean square (a,), its slopes in speed and acceleration."""
        x, change = dq @ self.direction.T, self.half * (ddq @ self.direction.T)
        width = change**2 + self.rest**2
        size = np.sqrt(x**2 + width)
        m = x / size
        rms = np.maximum(np.sqrt(np.mean(m**2, axis=0)), 1e-12)
        cube = size**3
        return m, rms, width / cube, -x * change * self.half / cube
