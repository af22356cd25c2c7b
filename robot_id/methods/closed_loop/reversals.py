"""Reversals in the rows beside a simulated loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.signals.processing import Processing
from robot_id.regression.rows.reversals import (
    Basis,
    acts_at_rest,
    response_bases,
    reversal_times,
    without,
)
from robot_id.robot import Robot

Array = NDArray[np.float64]


class LoopReversals:
    """
    What reversals leave in the rows of each joint, found once for a motion.

    :param runs: each with the times of its rows, s; joints turn as its position says.
    :param used: (R, n) rows of all runs, one after another.
    :param slope: alpha of the friction in W; None for sign(dq).
    :ivar fine: friction is known in so much detail that slopes count (see `response_columns`).
    :ivar taken: (n,) rows of each joint that its reversals took.
    """

    def __init__(
        self,
        robot: Robot,
        runs: Sequence[tuple[Run, Array]],
        used: NDArray[np.bool_],
        processing: Processing,
        slope: float | None,
    ) -> None:
        self.robot, self.used, self.processing, self.slope = robot, used, processing, slope
        self.fine = False
        self.taken = np.zeros(robot.n, int)
        self._runs = list(runs)
        self._bases: list[list[Basis]] | None = None

    def along(self, positions: Sequence[Array]) -> None:
        """Take the moments at which joints turn from other (N, n) positions of every run."""
        self._runs = [
            (replace(run, position=q, velocity=None), at)
            for (run, at), q in zip(self._runs, positions)
        ]
        self._bases = None

    def free(self, parts: Sequence[Array]) -> list[Array]:
        """Return used rows of every joint with its reversals projected out."""
        if self._bases is None:
            self._bases = self._found()
        projected = []
        for j, (part, bases) in enumerate(zip(parts, self._bases)):
            width = int(np.prod(part.shape[1:]))
            rows, self.taken[j] = without(part.reshape(len(part), width), bases)
            projected.append(rows.reshape(part.shape))
        return projected

    def _found(self) -> list[list[Basis]]:
        """Return for every joint the bases of what its reversals leave in its used rows."""
        found: list[list[Basis]] = [[] for _ in range(self.robot.n)]
        before, first = np.zeros(self.robot.n, int), 0
        for run, at in self._runs:
            here = self.used[first : first + len(at)]
            first += len(at)
            turns = reversal_times(run, self.processing, self.slope)
            for j, (joint, times) in enumerate(zip(self.robot.joints, turns)):
                own, low = at[here[:, j]], int(before[j])
                before[j] += len(own)
                if acts_at_rest(joint):
                    continue
                bases = response_bases(own, times, self.processing, run.step, self.fine)
                found[j] += [(slice(low + p.start, low + p.stop), Q) for p, Q in bases]
        return found
