"""Clipped channels: a value that drive or sensor cannot exceed, reached again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Values this close to the extreme one (share of the range) are at it.
NEAR = 1e-6
# At the limit lie this many times more samples than in the band of equal width below it.
DENSER = 8.0
# This many samples, in stretches of at least three, are not chance.
FEWEST, STRETCH = 8, 3


@dataclass(frozen=True)
class Clipped:
    """
    One limit that a channel reaches.

    :param joint: index of the column.
    :param value: the limit.
    :param samples: how many samples lie at it.
    """

    joint: int
    value: float
    samples: int


def clipped(values: Array) -> tuple[list[Clipped], Flags]:
    """
    Return the limits that a channel reaches, and (N, n) flags of the samples at them.

    :param values: (N, n) as recorded, before any filter.
    """
    flags = np.zeros(values.shape, bool)
    found = []
    for j in range(values.shape[1]):
        x = values[:, j]
        for sign in (1.0, -1.0):
            at = _at_limit(sign * x)
            if at is not None:
                flags[:, j] |= at
                found.append(Clipped(j, float(sign * (sign * x).max()), int(at.sum())))
    return found, flags


def _at_limit(x: Array) -> Flags | None:
    """Return which samples lie at the largest value when that is a limit."""
    top, span = float(x.max()), float(np.ptp(x))
    if span == 0.0:
        return None
    width = max(_resolution(x, span), NEAR * span)
    at = x >= top - 0.5 * width
    inside = _inside(at)
    count = int(inside.sum())
    if count < FEWEST or count > 0.9 * len(x):
        return None
    below = int(((x < top - 0.5 * width) & (x >= top - 1.5 * width)).sum())
    if count < DENSER * (below + 1):
        return None
    edges = np.diff(np.concatenate([[0], inside.astype(np.int8), [0]]))
    stretches = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
    return at if int(stretches.max()) >= STRETCH else None


def _inside(at: Flags) -> Flags:
    """Return the flags without a stretch at either end: a value held there is filled in."""
    free = np.flatnonzero(~at)
    inside = at.copy()
    if free.size:
        inside[: free[0]] = inside[free[-1] + 1 :] = False
    return inside


def _resolution(x: Array, span: float) -> float:
    """Return the smallest step between different values, where there are few of them."""
    different = np.unique(x)
    if len(different) > 0.2 * len(x):
        return 0.0
    return float(np.min(np.diff(different))) if len(different) > 1 else span
