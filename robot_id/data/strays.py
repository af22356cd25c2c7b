"""Single samples from another time: stamps of a broken clock among those of a sound one."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

# A larger share is not an error of a few stamps.
SHARE = 0.01
# Samples of the chain that stand alone: fewer than this many, a gap of many steps on either side.
ALONE, GAP = 8, 100.0


def strays(time: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """
    Return (N,) samples to leave out so that time never goes back.

    They are the samples outside of the longest increasing chain, and the few of it that stand far
    from all others (a damaged block has stamps of zero); None if these are more than 1 %.

    :param time: (N,) stamps in the order of arrival.
    """
    most = max(SHARE * time.size, 1.0)
    if (np.diff(time) < 0).sum() > most:
        return None
    # Patience sorting: ends[k] is the smallest last stamp of a chain of k + 1 samples.
    ends: list[float] = []
    last: list[int] = []
    before = np.full(time.size, -1)
    for i, stamp in enumerate(time.tolist()):
        k = bisect_right(ends, stamp)
        if k == len(ends):
            ends.append(stamp)
            last.append(i)
        else:
            ends[k], last[k] = stamp, i
        before[i] = last[k - 1] if k else -1
    if time.size - len(ends) > most:
        return None
    stray = np.ones(time.size, dtype=bool)
    at = last[-1]
    while at >= 0:
        stray[at] = False
        at = int(before[at])
    stray[_alone(time, np.flatnonzero(~stray))] = True
    return None if stray.sum() > most else stray


def _alone(time: NDArray[np.float64], chain: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the samples of a chain in small groups that are far from all others."""
    steps = np.diff(time[chain])
    groups = np.split(chain, np.flatnonzero(steps > GAP * np.median(steps)) + 1)
    return np.concatenate([group if len(group) < ALONE else group[:0] for group in groups])
