"""Clipped channels: a value that drive or sensor cannot exceed, reached again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from robot_id.data.dataset import Run

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Values this close to the extreme one (share of the range) are at it.
NEAR = 1e-6
# At the limit lie this many times more samples than in the band of equal width below it.
DENSER = 8.0
# This many samples, in stretches of at least three, are not chance.
FEWEST, STRETCH = 8, 3
# A joint stands still where it moves by less than this share of its range, within so many seconds.
STILL, WITHIN = 2e-3, 0.2


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


def clipped(run: Run) -> tuple[list[Clipped], Flags]:
    """
    Return the limits that the torques of a run reach, and (N, n) flags of the samples at them.

    A limit bounds the magnitude: zero is none (a current without sign reaches it at every
    reversal), nor is the value that a torque keeps while its joint stands still.
    """
    values, flags = run.torque, np.zeros(run.torque.shape, bool)
    still = _still(run.position, max(round(WITHIN * run.rate), 1))
    found = []
    for j in range(values.shape[1]):
        x = values[:, j]
        for sign in (1.0, -1.0):
            at = _at_limit(sign * x, still[:, j])
            if at is not None:
                flags[:, j] |= at
                found.append(Clipped(j, float(sign * (sign * x).max()), int(at.sum())))
    return found, flags


def _still(q: Array, samples: int) -> Flags:
    """(N, n) where joints stand still; a joint that never moves has no motion to compare with."""
    near = maximum_filter1d(q, samples, axis=0) - minimum_filter1d(q, samples, axis=0)
    inside = near <= STILL * np.ptp(q, axis=0)
    # The window leaves out half of itself at both ends of a rest.
    return np.asarray(maximum_filter1d(inside, samples + 1, axis=0))


def _at_limit(x: Array, still: Flags) -> Flags | None:
    """Return which samples lie at the largest value when that is a limit."""
    top, span = float(x.max()), float(np.ptp(x))
    if span == 0.0 or top <= 0.0:
        return None
    width = max(_resolution(x, span), NEAR * span)
    at = (x >= top - 0.5 * width) & ~still
    inside = _inside(at)
    count = int(inside.sum())
    if count < FEWEST or count > 0.9 * len(x):
        return None
    below = int(((x < top - 0.5 * width) & (x >= top - 1.5 * width) & ~still).sum())
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
