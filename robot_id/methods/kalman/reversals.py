"""
Reversals in a filter: while a joint turns, its friction is not known.

The linear methods free their rows from these moments (`regression.rows.reversals`). A filter does
the same by its process noise: from half a row before a joint starts, stops or turns to half a row
after it, a torque of the size of its Coulomb friction may be missing, so that what happens there
moves its velocity and not the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.regression.rows.reversals import acts_at_rest, reversal_times
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Speeds beside rest between which friction jumps, rad/s or m/s.
BESIDE_REST = 1e-6


@dataclass(frozen=True)
class Reversals:
    """
    When friction is unknown, and what that adds to the velocities in a step.

    :param loose: for each run (N, n) whether a joint turns.
    :param speeds: (n, n) what the friction of the second joint may add to the velocity of the
        first one in a step, as if it were white noise that lasts for a row.
    """

    loose: tuple[NDArray[np.bool_], ...]
    speeds: Array

    @classmethod
    def of(
        cls,
        robot: Robot,
        chi: Array,
        dataset: Dataset,
        processing: Processing,
        slope: float | None,
        step: float,
    ) -> Reversals:
        """
        Find them along a recording.

        :param processing: of rows, resolved.
        :param step: of the filter, s.
        """
        row = (processing.decimation or 1) / dataset.rate
        loose = []
        for run in dataset.runs:
            flags = np.zeros(run.position.shape, bool)
            for j, times in enumerate(reversal_times(run, processing, slope)):
                if acts_at_rest(robot.joints[j]):
                    continue
                first = np.searchsorted(run.time, times - 0.5 * row)
                last = np.searchsorted(run.time, times + 0.5 * row)
                for a, b in zip(first, last):
                    flags[a:b, j] = True
            loose.append(flags)
        q = np.mean([run.position.mean(axis=0) for run in dataset.runs], axis=0)[None]
        beside, still = np.full_like(q, BESIDE_REST), np.zeros_like(q)
        jump = [
            dynamics.inverse_dynamics(robot, chi, q, side * beside, still)[0]
            for side in (1.0, -1.0)
        ]
        coulomb = 0.5 * np.abs(jump[0] - jump[1])
        M = dynamics.inertia_matrix(robot, chi, q)[0]
        # A start without inertia has an M that nothing can be divided by.
        by_friction = np.linalg.lstsq(M, np.diag(coulomb), rcond=None)[0]
        steps = max(row / step, 1.0)
        return cls(tuple(loose), step * np.sqrt(steps) * np.abs(by_friction))

    def pieces(
        self, run: int, every: int, count: int, longest: int
    ) -> Iterator[tuple[int, int, Array]]:
        """
        Yield (first, last) samples in which the same joints turn, and what that adds (2n,).

        :param every: samples of the recording in one of the filter, which has `count`.
        :param longest: samples of a piece at most.
        """
        loose = self.loose[run][::every][:count]
        changes = np.flatnonzero(np.any(loose[1:] != loose[:-1], axis=1)) + 1
        cuts = np.unique(np.concatenate([changes, np.arange(0, len(loose), longest)]))
        for first, last in zip(cuts, [*cuts[1:], len(loose)]):
            speed = np.sqrt(np.sum((self.speeds * loose[first]) ** 2, axis=1))
            yield int(first), int(last), np.concatenate([speed, np.zeros_like(speed)])
