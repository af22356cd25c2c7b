"""Reversals in the rows beside a simulated loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.processing import Processing
from robot_id.model import Robot
from robot_id.regression.reversals import (
    Basis,
    acts_at_rest,
    response_bases,
    reversal_times,
)

Array = NDArray[np.float64]


def reversal_bases(
    robot: Robot,
    runs: Sequence[tuple[Run, Array]],
    used: NDArray[np.bool_],
    processing: Processing,
    slope: float | None,
    slopes: bool,
) -> list[list[Basis]]:
    """
    Return for every joint the bases of what its reversals leave in its used rows.

    :param runs: each with the times of its rows, s.
    :param used: (R, n) rows of all runs, one after another.
    :param slope: alpha of the friction in W; None for sign(dq).
    :param slopes: see `response_columns`.
    """
    found: list[list[Basis]] = [[] for _ in range(robot.n)]
    before, first = np.zeros(robot.n, int), 0
    for run, at in runs:
        here = used[first : first + len(at)]
        first += len(at)
        turns = reversal_times(run, processing, slope)
        for j, (joint, times) in enumerate(zip(robot.joints, turns)):
            own = at[here[:, j]]
            low = int(before[j])
            before[j] += len(own)
            if acts_at_rest(joint):
                continue
            bases = response_bases(own, times, processing, run.step, slopes)
            found[j] += [(slice(low + p.start, low + p.stop), Q) for p, Q in bases]
    return found
