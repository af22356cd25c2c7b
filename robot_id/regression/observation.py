"""
The observation: W and Y of each joint, built chunk by chunk.

W_j holds only the columns of parameters that act on joint j at all; they are found once, on random
states. So a wrist joint of a six-axis arm is filtered and factored with a few columns, not all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing
from robot_id.progress import Progress, silent
from robot_id.regression.sampling import States, walk
from robot_id.regression.triangular import JointFactors, RowFactor

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Rows of one joint: joint, W (r, b_j), Y (r,).
Block = tuple[int, Array, Array]
# (joint, W, Y, columns) -> (r,) weights of the rows.
Weigh = Callable[[int, Array, Array, Indices], Array]


class Observation:
    """
    The system Y_j = W_j chi + rho_j of every joint, from measured or simulated motion.

    Iterating gives blocks of rows, again and again. They are kept in memory when they are small,
    else computed anew in each pass.

    :param robot: the Robot.
    :param dataset: the measurements, columns in the order of the robot's joints.
    :param processing: resolved for these data.
    :param coulomb_slope: slope of the smooth friction; None for sign(dq).
    :param memory_mb: rows are kept up to this size.
    """

    def __init__(
        self,
        robot: Any,
        dataset: Dataset,
        processing: Processing,
        coulomb_slope: float | None = None,
        memory_mb: float = 256.0,
    ) -> None:
        self.robot = robot
        self.dataset = dataset
        self.processing = processing
        self.coulomb_slope = coulomb_slope
        self.names: tuple[str, ...] = tuple(robot.base.names)
        self.n: int = robot.n
        self.columns = acting_columns(robot)
        b = len(self.names)
        self._flat = np.concatenate([j * b + columns for j, columns in enumerate(self.columns)])
        width = len(self._flat) + self.n
        rows = len(dataset) / (processing.decimation or 1)
        self._keep = 8.0 * width * rows <= memory_mb * 1e6
        self._kept: list[Block] | None = None

    def blocks(self, progress: Progress = silent) -> Iterator[Block]:
        """Yield (joint, W_j rows, Y_j rows) through all data; W_j has the columns[j] only."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Block] = []
        for rows in walk(self.dataset, self.processing, self._wide, progress):
            last = 0
            for j, columns in enumerate(self.columns):
                first, last = last, last + len(columns)
                used = rows.used[:, j]
                block = (j, rows.values[used, first:last], rows.values[used, j - self.n])
                if self._keep:
                    kept.append(block)
                yield block
        if self._keep:
            self._kept = kept

    def factors(self, progress: Progress = silent, weigh: Weigh | None = None) -> JointFactors:
        """
        Return the triangular factors of [W_j Y_j], the rows weighted where `weigh` is given.

        :param progress: called with the fraction done.
        :param weigh: gives the weights of a block's rows.
        """
        factors = [RowFactor(len(columns) + 1) for columns in self.columns]
        for j, W, Y in self.blocks(progress):
            rows = np.column_stack([W, Y])
            if weigh is not None:
                rows *= weigh(j, W, Y, self.columns[j])[:, None]
            factors[j].add(rows)
        return JointFactors(
            self.names,
            self.columns,
            tuple(factor.R for factor in factors),
            np.array([factor.rows for factor in factors]),
        )

    def residuals(self, chi: Array, progress: Progress = silent) -> list[Array]:
        """Return Y_j - W_j chi of every joint, all runs one after another."""
        parts: list[list[Array]] = [[] for _ in range(self.n)]
        for j, W, Y in self.blocks(progress):
            parts[j].append(Y - W @ chi[self.columns[j]])
        return [np.concatenate(part) if part else np.empty(0) for part in parts]

    def _wide(self, states: States) -> Array:
        """(N, sum of b_j, plus n) the acting columns of every joint side by side, then torques."""
        W = dynamics.regressor(
            self.robot, states.q, states.dq, states.ddq, coulomb_slope=self.coulomb_slope
        )
        acting = W.reshape(W.shape[0], -1).take(self._flat, axis=1)
        return np.concatenate([acting, states.torque], axis=1)


def acting_columns(robot: Any, states: int = 64) -> tuple[Indices, ...]:
    """
    Return for each joint the base parameters that act on it in some of many random states.

    A structural zero of the regressor is zero, or rounding, in all of them.
    """
    rng = np.random.default_rng(0)
    q, dq, ddq = (rng.uniform(-3.0, 3.0, (states, robot.n)) for _ in range(3))
    W = np.abs(dynamics.regressor(robot, q, dq, ddq)).max(axis=0)
    largest = W.max(axis=0)
    return tuple(np.flatnonzero(row > 1e-12 * largest) for row in W)
