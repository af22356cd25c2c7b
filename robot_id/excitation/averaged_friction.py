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

from itertools import pairwise

import numpy as np

from robot_id.dynamics.acting_rows import ActingRows
from robot_id.excitation.kernels import averaged_signs, pull_back_signs
from robot_id.model.friction import COLUMNS, ROTOR
from robot_id.trajectory.trajectory import Array

_AT_REST = 1e-4


class AveragedFriction:
    """
    The entries of W that depend on the sign of a speed, with the averaged sign, and their slopes.

    :param acting: the entries of W.
    :param step: h, seconds between samples.
    :param velocity: (n,) largest speeds; below a 1e-4 part of them a joint is at rest.
    """

    def __init__(self, acting: ActingRows, step: float, velocity: Array) -> None:
        robot = acting.robot
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
        found.sort(key=lambda pair: int(terms.kind[pair[0]]))
        atoms = np.array([k for k, _ in found], int)
        self.columns = np.array([column for _, column in found], int)
        # Atoms of one kind stand together: a function is called once for all of them.
        kinds, firsts = np.unique(terms.kind[atoms], return_index=True)
        ends = [*firsts.tolist(), len(atoms)]
        self.groups = [
            (COLUMNS[kind - 1][1], slice(*both)) for kind, both in zip(kinds, pairwise(ends))
        ]
        self.half = 0.25 * step
        self.rows = np.searchsorted(acting.flat, terms.row[atoms] * len(robot.base) + self.columns)
        self.shared = len(np.unique(self.rows)) < len(self.rows)
        self.direction = np.ascontiguousarray(terms.direction[atoms])
        self.constant = terms.constant[atoms][:, None]
        self.gain = (terms.gain[atoms] / robot.base.factor[self.columns])[:, None]
        self.rest = _AT_REST * np.abs(self.direction) @ velocity

    def at(self, dq: Array, ddq: Array) -> AveragedSigns:
        """Return the averaged signs of a motion, (n, N) each."""
        return AveragedSigns(self, self.direction @ dq, self.direction @ ddq)


class AveragedSigns:
    """
    s = m / rms(m) of the speeds x of all terms along a motion.

    :param friction: the terms.
    :param x: (a, N) speeds of the terms.
    :param gain: (a, N) their changes, dx/dt.
    """

    def __init__(self, friction: AveragedFriction, x: Array, gain: Array) -> None:
        self.friction, self.x = friction, x
        self.s, self.by_speed, self.by_gain = np.empty((3, *x.shape))
        self.rms = np.empty(len(x))
        filled = self.s, self.by_speed, self.by_gain, self.rms
        averaged_signs(x, gain, friction.half, friction.rest, *filled)

    def replace(self, rows: Array) -> None:
        """Overwrite the entries among the rows (A, N)."""
        own = self.friction
        value = np.empty_like(self.x)
        for column, part in own.groups:
            value[part] = column.value(self.x[part], self.s[part], own.constant[part])
        value *= own.gain
        if own.shared:
            rows[own.rows] = 0.0
            for row, one in zip(own.rows, value):
                rows[row] += one
        else:
            rows[own.rows] = value

    def add_slopes(self, G: Array, by_dq: Array, by_ddq: Array) -> None:
        """
        Add the effect of these entries on by_dq, by_ddq (n, N), from the slopes G (A, N).

        The effect that `ActingRows.slopes` added for them, with the exact sign, is removed.
        """
        own, x, s = self.friction, self.x, self.s
        weight = own.gain * G[own.rows]
        direct, by_s = np.empty_like(x), np.empty_like(x)
        for column, part in own.groups:
            speed, constant = x[part], own.constant[part]
            direct[part], by_s[part] = column.slopes(speed, s[part], constant)
            direct[part] -= column.slopes(speed, np.sign(speed), constant)[0]
        pull_back_signs(weight, direct, by_s, s, self.by_speed, self.by_gain, self.rms)
        by_dq += own.direction.T @ direct
        by_ddq += own.direction.T @ by_s
