"""
Compiled friction: one function of all terms of the registry, and the functions built on it.

Friction that grows with the load, lambda |y| with y the torque of rigid bodies and rotors, needs
no iteration in the direct model: y + lambda |y| = r has y = r / (1 + lambda sign(r)) while
|lambda| < 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.kernel_cache import njit
from robot_id.robot.friction import COLUMNS, ROTOR, Column, functions

# Inlined into its callers: a function made here has no source file to be cached by.
_ANONYMOUS = {key: value for key, value in INLINED.items() if key != 'cache'}
# Lower bound of 1 + lambda sign(y): below it the gear locks and the model cannot be simulated.
SMALLEST_LOAD_GAIN = 0.05

overload(functions.atan)(lambda x: lambda x: math.atan(x))
overload(functions.exp)(lambda x: lambda x: math.exp(x))
overload(functions.sign)(lambda x: lambda x: np.sign(x))
for _name in ('positive', 'negative', 'above', 'below', 'smooth_sign', 'smooth_sign_slope'):
    register_jitable(getattr(functions, _name))
smooth_sign = njit(**_ANONYMOUS)(functions.smooth_sign)
smooth_sign_slope = njit(**_ANONYMOUS)(functions.smooth_sign_slope)


def _link(kind: int, column: Column, rest: Any, slope_wanted: bool) -> Any:
    """Return f(kind, x, slope, c) that answers for one kind and leaves the others to the rest."""
    value = njit(**_ANONYMOUS)(column.value)
    slopes = njit(**_ANONYMOUS)(column.slopes)
    jumps = column.jumps

    def of_value(kind_wanted, x, slope, c):  # type: ignore[no-untyped-def]
        if kind_wanted == kind:
            s = smooth_sign(x, slope) if jumps else 0.0
            return float(value(x, s, c))
        return rest(kind_wanted, x, slope, c)

    def of_slope(kind_wanted, x, slope, c):  # type: ignore[no-untyped-def]
        if kind_wanted == kind:
            if not jumps:
                return float(slopes(x, 0.0, c)[0])
            by_x, by_s = slopes(x, smooth_sign(x, slope), c)
            return by_x + by_s * smooth_sign_slope(x, slope)
        return rest(kind_wanted, x, slope, c)

    return njit(**_ANONYMOUS)(of_slope if slope_wanted else of_value)


def _chain(link: Callable[[int, Column, Any], Any]) -> Any:
    """Return the chain of all columns; an unknown kind is not a number."""
    last = njit(**_ANONYMOUS)(lambda kind, x, slope, c: np.nan)
    for k in range(len(COLUMNS) - 1, -1, -1):
        last = link(k + 1, COLUMNS[k][1], last)
    return last


def _is_load_chain() -> Any:
    """Return f(kind), which is true if friction of this kind grows with the load."""
    last = njit(**_ANONYMOUS)(lambda kind: False)
    for k, (term, _) in enumerate(COLUMNS):
        if term.modulation == 'load':
            last = _is_kind(k + 1, last)
    return last


def _is_kind(kind: int, rest: Any) -> Any:
    return njit(**_ANONYMOUS)(lambda wanted: wanted == kind or rest(wanted))


term_value = _chain(lambda kind, column, rest: _link(kind, column, rest, slope_wanted=False))
term_slope = _chain(lambda kind, column, rest: _link(kind, column, rest, slope_wanted=True))
is_load = _is_load_chain()


@njit(**INLINED)
def atom_speed(tree, k, dq):
    """Return x = c . dq of atom k."""
    x = 0.0
    for j in range(dq.shape[0]):
        x += tree.term_direction[k, j] * dq[j]
    return x


@njit(**INLINED)
def add_friction(tree, values, dq, slope, factor, tau):
    """Add factor times friction and offset torques at dq (n,) to tau (n,), but not the load's."""
    for k in range(tree.term_kind.shape[0]):
        kind = tree.term_kind[k]
        if kind == ROTOR or is_load(kind):
            continue
        x = atom_speed(tree, k, dq)
        gain = factor * values[tree.term_parameter[k]] * tree.term_gain[k]
        tau[tree.term_row[k]] += gain * term_value(kind, x, slope, tree.term_constant[k])


@njit(**INLINED)
def has_load(tree):
    """Return whether any friction grows with the load."""
    for k in range(tree.term_kind.shape[0]):  # noqa: SIM110
        if is_load(tree.term_kind[k]):
            return True
    return False


@njit(**INLINED)
def load_factor(tree, values, dq, slope, row):
    """Return lambda of a joint: its friction is lambda |y| beside the rest."""
    factor = 0.0
    for k in range(tree.term_kind.shape[0]):
        if tree.term_row[k] == row and is_load(tree.term_kind[k]):
            value = term_value(
                tree.term_kind[k], atom_speed(tree, k, dq), slope, tree.term_constant[k]
            )
            factor += values[tree.term_parameter[k]] * tree.term_gain[k] * value
    return factor


@njit(**INLINED)
def add_drive_torques(tree, values, dq, ddq, slope, tau):
    """Add rotors and friction to tau (n,), which holds the torques of the rigid bodies."""
    for k in range(tree.term_kind.shape[0]):
        if tree.term_kind[k] == ROTOR:
            x = atom_speed(tree, k, ddq)
            tau[tree.term_row[k]] += values[tree.term_parameter[k]] * tree.term_gain[k] * x
    if has_load(tree):
        for j in range(tau.shape[0]):
            tau[j] += load_factor(tree, values, dq, slope, j) * abs(tau[j])
    add_friction(tree, values, dq, slope, 1.0, tau)


@njit(**INLINED)
def remove_friction(tree, values, dq, slope, tau):
    """Turn tau (n,), torques of the drives, into y: what is left for rigid bodies and rotors."""
    add_friction(tree, values, dq, slope, -1.0, tau)
    if has_load(tree):
        for j in range(tau.shape[0]):
            gain = 1.0 + load_factor(tree, values, dq, slope, j) * np.sign(tau[j])
            tau[j] /= max(gain, SMALLEST_LOAD_GAIN)


@njit(**INLINED)
def add_rotors(tree, values, M):
    """Add the rotor inertias to M (n, n)."""
    for k in range(tree.term_kind.shape[0]):
        if tree.term_kind[k] == ROTOR:
            gain = values[tree.term_parameter[k]] * tree.term_gain[k]
            for j in range(M.shape[0]):
                M[tree.term_row[k], j] += gain * tree.term_direction[k, j]


@njit(**INLINED)
def add_friction_slopes(tree, values, dq, slope, y, by_q, by_dq, gain):
    """
    Turn the derivatives of y, rigid bodies and rotors, into those of the whole torque.

    With load, d tau/d x = (1 + lambda sign(y)) dy/dx + lambda' |y|; the slope of sign(dq) is zero.

    :param y: (n,) torques of rigid bodies and rotors.
    :param by_q: (n, n) dy/dq, by_dq (n, n) dy/d(dq).
    :param gain: (n,) becomes 1 + lambda sign(y), so that d tau/d ddq = diag(gain) M.
    """
    n = dq.shape[0]
    for i in range(n):
        gain[i] = 1.0
    if has_load(tree):
        for i in range(n):
            gain[i] += load_factor(tree, values, dq, slope, i) * np.sign(y[i])
            for j in range(n):
                by_q[i, j] *= gain[i]
                by_dq[i, j] *= gain[i]
    for k in range(tree.term_kind.shape[0]):
        kind = tree.term_kind[k]
        if kind == ROTOR:
            continue
        i = tree.term_row[k]
        change = values[tree.term_parameter[k]] * tree.term_gain[k]
        change *= term_slope(kind, atom_speed(tree, k, dq), slope, tree.term_constant[k])
        if is_load(kind):
            change *= abs(y[i])
        for j in range(n):
            by_dq[i, j] += change * tree.term_direction[k, j]
