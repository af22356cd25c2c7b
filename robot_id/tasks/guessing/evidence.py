"""What the numbers of columns say: clock, derivative, repetition, counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Share of the variance of a channel that the slope of another explains, for it to be its
# derivative: quantised positions and noise leave some.
DERIVATIVE = 0.8
# A clock's steps lie within this share of their median, for nearly all steps.
REGULAR, MOSTLY = 0.6, 0.9
# Lengths of the means before a slope is taken, in samples: noise against fast motions.
SPANS = (1, 4, 16)


def is_clock(x: Array) -> bool:
    """Whether a column only grows, by steps of about one size."""
    step = np.diff(x)
    if len(step) < 2 or not np.isfinite(x).all() or np.any(step < 0.0):
        return False
    moved = step[step > 0.0]
    if len(moved) < 2:
        return False
    middle = float(np.median(moved))
    return float(np.mean(np.abs(moved - middle) <= REGULAR * middle)) >= MOSTLY


def clock_step(x: Array) -> float:
    """Return the mean step of a clock, rows that repeat a stamp counted once."""
    moved = np.diff(np.unique(x))
    return float(np.median(moved)) if len(moved) else 0.0


def is_counter(x: Array) -> bool:
    """Whether a column counts its rows: integers, one by one."""
    return bool(np.all(np.diff(x) == 1.0))


def is_constant(x: Array) -> bool:
    """Whether a column keeps one value."""
    return not np.isfinite(x).any() or bool(np.nanmax(x) == np.nanmin(x))


def is_integer(x: Array) -> bool:
    """Whether a column holds counts: whole numbers, more than a few different ones."""
    return bool(np.all(x == np.round(x))) and len(np.unique(x)) > 16


def repetition(columns: list[Array]) -> int:
    """Return how many rows in a row hold the same sample, typically; 1 for a plain recording."""
    same = np.ones(len(columns[0]) - 1, bool)
    for x in columns:
        same &= np.diff(x) == 0.0
    new = np.flatnonzero(~same) + 1
    return max(int(np.median(np.diff(new))), 1) if len(new) > 2 else 1


def derivative(q: Array, v: Array, time: Array) -> tuple[float, float]:
    """
    Return k and r^2 of v = k dq/dt, the best over several lengths of differences.

    Over h samples q[i+h] - q[i] = 1 / k * integral of v, so noise of q counts less the longer h.

    :param time: (N,) the clock, in any unit.
    """
    best = (0.0, 0.0)
    travelled = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(time))])
    for h in SPANS:
        if len(q) <= 4 * h:
            continue
        dq, area = q[h:] - q[:-h], travelled[h:] - travelled[:-h]
        a, b = dq - dq.mean(), area - area.mean()
        power = float(a @ a) * float(b @ b)
        if power <= 0.0:
            continue
        r2 = float(a @ b) ** 2 / power
        if r2 > best[1]:
            best = (float(np.copysign((b @ b / (a @ a)) ** 0.5, a @ b)), r2)
    return best


def likeness(a: Array, b: Array) -> float:
    """Return the correlation of two columns, 0 where one is constant."""
    x, y = a - a.mean(), b - b.mean()
    power = float(x @ x) * float(y @ y)
    return float(x @ y) / power**0.5 if power > 0.0 else 0.0


def roughness(x: Array) -> float:
    """Return the share of a column's size that changes from one sample to the next."""
    spread = float(np.std(x))
    return float(np.std(np.diff(x))) / spread if spread > 0.0 else 0.0
