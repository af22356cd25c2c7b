"""Where in a recording a finding was made: flags and times as intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.tasks.checks.finding import Interval

# Stretches nearer to each other than this share of their run are one interval.
NEAR = 0.01


def of_flags(index: int, run: Run, flags: NDArray[np.bool_]) -> list[Interval]:
    """
    Return the intervals in which flags are set.

    :param index: of the run.
    :param flags: (N,) one a sample.
    """
    at = np.flatnonzero(flags)
    if not at.size:
        return []
    gaps = np.flatnonzero(np.diff(at) > max(NEAR * len(run), 1.0))
    first, last = at[np.append(0, gaps + 1)], at[np.append(gaps, at.size - 1)]
    seconds = run.time - run.time[0]
    return [
        Interval(index, float(begin), float(end))
        for begin, end in zip(seconds[first], seconds[last])
    ]


def of_times(runs: Sequence[Run], times: Iterable[float]) -> list[Interval]:
    """
    Return the instants of a repair; one that lies in no run, or in several, has no place.

    :param times: seconds on the clock of the recording.
    """
    found = []
    for time in times:
        inside = [k for k, run in enumerate(runs) if run.time[0] <= time <= run.time[-1]]
        if len(inside) == 1:
            since = float(time - runs[inside[0]].time[0])
            found.append(Interval(inside[0], since, since))
    return found
