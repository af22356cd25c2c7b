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

import math
from typing import Any, NamedTuple

import numpy as np

from robot_id.dynamics.acting_rows import ActingRows
from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.excitation.weighted_rows import ANY_ORDER
from robot_id.kernel_cache import njit
from robot_id.robot.friction import COLUMNS, ROTOR, Column
from robot_id.trajectory.trajectory import Array

_AT_REST = 1e-4
# Inlined into its callers: a function made here has no source file to be cached by.
_INLINED = {key: value for key, value in INLINED.items() if key != 'cache'}


def _value(kind: int, column: Column, rest: Any) -> Any:
    value = njit(**_INLINED)(column.value)

    def link(wanted, x, s, c):  # type: ignore[no-untyped-def]
        if wanted == kind:
            return float(value(x, s, c))
        return rest(wanted, x, s, c)

    return njit(**_INLINED)(link)


def _slopes(kind: int, column: Column, rest: Any) -> Any:
    slopes = njit(**_INLINED)(column.slopes)

    def link(wanted, x, s, c):  # type: ignore[no-untyped-def]
        if wanted == kind:
            by_x, by_s = slopes(x, s, c)
            return float(by_x), float(by_s)
        return rest(wanted, x, s, c)

    return njit(**_INLINED)(link)


value_of_sign = njit(**_INLINED)(lambda kind, x, s, c: np.nan)
slopes_of_sign = njit(**_INLINED)(lambda kind, x, s, c: (np.nan, np.nan))


for _k, (_term, _column) in enumerate(COLUMNS):
    if _column.jumps:
        value_of_sign = _value(_k + 1, _column, value_of_sign)
        slopes_of_sign = _slopes(_k + 1, _column, slopes_of_sign)


class Atoms(NamedTuple):
    """
    The friction that jumps with the sign of a speed, a of them.

    :param kind: (a,) what they are, see `robot.friction`; constant (a,) theirs.
    :param row: (a,) entry of W that each adds to, by its number among the acting ones.
    :param direction: (a, n) their speeds are direction . dq.
    :param gain: (a,) factor of their value in W.
    :param rest: (a,) speeds below which a joint is at rest.
    """

    kind: Any
    constant: Any
    row: Any
    direction: Any
    gain: Any
    rest: Any


class Averaged(NamedTuple):
    """
    x, s = m / rms(m) and the slopes of m along a motion.

    :param x: (a, N) speeds of the atoms; s (a, N) their averaged signs.
    :param by_speed: (a, N) slope of m in the speed; by_gain (a, N) in its change.
    :param rms: (a,) root mean squares of m.
    """

    x: Any
    s: Any
    by_speed: Any
    by_gain: Any
    rms: Any


@njit(**ANY_ORDER)
def along(direction, states, out):
    """Fill out (N,) = direction (n,) . states (n, N)."""
    out[:] = 0.0
    for j in range(len(direction)):
        if direction[j] != 0.0:
            for k in range(len(out)):
                out[k] += direction[j] * states[j, k]


@njit(**ANY_ORDER)
def average_signs(atoms, half, dq, ddq, found, rows):
    """
    Fill `found`, and overwrite the entries of the atoms among the rows (A, N).

    :param half: the part h / 4 of the step that a speed changes over.
    :param dq: (n, N); ddq likewise.
    """
    N = dq.shape[1]
    gain = np.empty(N)
    for a in range(len(atoms.kind)):
        rows[atoms.row[a]] = 0.0
        x, s = found.x[a], found.s[a]
        along(atoms.direction[a], dq, x)
        along(atoms.direction[a], ddq, gain)
        summed, least = 0.0, atoms.rest[a] * atoms.rest[a]
        for k in range(N):
            change = half * gain[k]
            width = change * change + least
            square = x[k] * x[k] + width
            size = math.sqrt(square)
            m = x[k] / size
            summed += m * m
            s[k] = m
            found.by_speed[a, k] = width / (square * size)
            found.by_gain[a, k] = -half * x[k] * change / (square * size)
        rms = max(math.sqrt(summed / max(N, 1)), 1e-12)
        found.rms[a] = rms
        for k in range(N):
            s[k] /= rms
    for a in range(len(atoms.kind)):  # two of them may share an entry
        row, kind, constant = rows[atoms.row[a]], atoms.kind[a], atoms.constant[a]
        for k in range(N):
            value = value_of_sign(kind, found.x[a, k], found.s[a, k], constant)
            row[k] += atoms.gain[a] * value


@njit(**ANY_ORDER)
def add_average_slopes(atoms, found, G, by_dq, by_ddq):
    """Add the effect of the atoms on the slopes by_dq, by_ddq (n, N), from G (A, N)."""
    N = G.shape[1]
    direct, by_sign = np.empty(N), np.empty(N)
    for a in range(len(atoms.kind)):
        kind, constant, weight = atoms.kind[a], atoms.constant[a], G[atoms.row[a]]
        x, s, mean = found.x[a], found.s[a], 0.0
        for k in range(N):
            own = atoms.gain[a] * weight[k]
            by_x, by_s = slopes_of_sign(kind, x[k], s[k], constant)
            direct[k] = own * (by_x - slopes_of_sign(kind, x[k], np.sign(x[k]), constant)[0])
            by_sign[k] = own * by_s
            mean += by_sign[k] * s[k]
        mean /= max(N, 1)
        for k in range(N):
            change = (by_sign[k] - s[k] * mean) / found.rms[a]
            direct[k] += change * found.by_speed[a, k]
            by_sign[k] = change * found.by_gain[a, k]
        for j in range(len(by_dq)):
            factor = atoms.direction[a, j]
            if factor != 0.0:
                for k in range(N):
                    by_dq[j, k] += factor * direct[k]
                    by_ddq[j, k] += factor * by_sign[k]


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
        own = np.array([k for k, _ in found], int)
        columns = np.array([column for _, column in found], int)
        direction = np.ascontiguousarray(terms.direction[own])
        self.half = 0.25 * step
        self.atoms = Atoms(
            terms.kind[own],
            terms.constant[own],
            np.searchsorted(acting.flat, terms.row[own] * len(robot.base) + columns),
            direction,
            terms.gain[own] / robot.base.factor[columns],
            _AT_REST * np.abs(direction) @ velocity,
        )

    def replace(self, dq: Array, ddq: Array, rows: Array) -> Averaged:
        """Overwrite the entries among the rows (A, N) of a motion, (n, N) each."""
        count, N = len(self.atoms.kind), dq.shape[1]
        x, s, by_speed, by_gain = np.empty((4, count, N))
        found = Averaged(x, s, by_speed, by_gain, np.empty(count))
        average_signs(self.atoms, self.half, dq, ddq, found, rows)
        return found

    def add_slopes(self, found: Averaged, G: Array, by_dq: Array, by_ddq: Array) -> None:
        """
        Add the effect of these entries on by_dq, by_ddq (n, N), from the slopes G (A, N).

        The effect that `ActingRows.slopes` added for them, with the exact sign, is removed.
        """
        add_average_slopes(self.atoms, found, G, by_dq, by_ddq)


def _both(robot: Any, chi: Any, x: Array) -> None:
    friction = AveragedFriction(ActingRows(robot), 1.0, np.ones(1))
    rows = np.ones((len(robot.base), 1))
    friction.add_slopes(friction.replace(x, x, rows), rows, x.copy(), x.copy())


KERNELS['average_signs'] = Kernel(average_signs, _both)
KERNELS['add_average_slopes'] = Kernel(add_average_slopes, _both)
