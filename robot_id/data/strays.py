"""Single samples from another time: stamps of a broken clock among those of a sound one."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

# A larger share is not an error of a few stamps.
SHARE = 0.01


def strays(time: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """
    Return (N,) samples to leave out so that time never goes back.

    They are the samples outside of the longest increasing chain; None if these are more than 1 %.

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
    return stray
