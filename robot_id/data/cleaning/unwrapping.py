"""Encoders that wrap around: jumps of a whole turn within one step, and how to undo them."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TURN = 2 * pi
# A jump this close to a whole turn, apart from the motion of the joint, is a wrap.
NEAR = 0.15 * TURN


def wraps(position: Array, turning: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """
    Return the number of turns to add from each sample on, (N, n).

    A wrap is a single step of about a whole turn between two calm neighbours: the steps before
    and after it are those of a moving joint, below a quarter of a turn.

    :param position: (N, n) rad.
    :param turning: (n,) flags of joints that turn; all when None.
    """
    steps = np.diff(position, axis=0, prepend=position[:1])
    turns = np.round(steps / TURN).astype(np.int64)
    near = np.abs(steps - turns * TURN) < NEAR
    calm = np.abs(steps) < 0.25 * TURN
    before = np.concatenate([np.ones_like(calm[:1]), calm[:-1]])
    after = np.concatenate([calm[1:], np.ones_like(calm[:1])])
    found = (turns != 0) & near & before & after
    if turning is not None:
        found &= turning
    return -np.cumsum(np.where(found, turns, 0), axis=0)


def unwrap(position: Array, turning: NDArray[np.bool_] | None = None) -> tuple[Array, list[int]]:
    """
    Return positions without wrap-around and the number of wraps of each joint.

    :param position: (N, n) rad.
    """
    turns = wraps(position, turning)
    counts = (np.diff(turns, axis=0) != 0).sum(axis=0)
    if not counts.any():
        return position, [0] * position.shape[1]
    return position + TURN * turns, [int(c) for c in counts]
