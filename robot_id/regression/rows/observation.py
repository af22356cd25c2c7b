"""The observation: W and Y of each joint from a data set, computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics.temperature import feels_temperature
from robot_id.exceptions import DataError
from robot_id.progress import Progress, silent
from robot_id.regression.rows.prediction import PredictedRun, Prediction, predict
from robot_id.regression.rows.reversals import SharedReversals, acts_at_rest, without
from robot_id.regression.rows.sampling import Rows, States, join, walk
from robot_id.regression.rows.wide_regressor import WideRegressor
from robot_id.regression.solvers.triangular import JointFactors, RowFactor
from robot_id.robot import Robot

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Rows of one joint: joint, W (r, b_j), Y (r,).
Block = tuple[int, Array, Array]
# (joint, W, Y, columns) -> (r,) weights of the rows.
Weigh = Callable[[int, Array, Array, Indices], Array]


class Observation:
    """
    The system Y_j = W_j chi + rho_j of every joint, from measured motion.

    The data are filtered, differentiated and decimated once: the rows are kept in memory when they
    are small, otherwise computed again in each pass.

    :param robot: the Robot.
    :param dataset: the measurements, columns in the order of the robot's joints.
    :param processing: resolved for these data.
    :param coulomb_slope: slope of the smooth friction; None for sign(dq).
    :param memory_mb: rows are kept up to this size.
    :param free: remove the effect of the reversals of each joint from the rows that are kept.
    """

    def __init__(
        self,
        robot: Robot,
        dataset: Dataset,
        processing: Processing,
        coulomb_slope: float | None = None,
        memory_mb: float = 256.0,
        free: bool = False,
    ) -> None:
        if feels_temperature(robot) and any(run.temperature is None for run in dataset.runs):
            raise DataError(
                f'{dataset.source or "data set"}: temperature-dependent friction needs a channel '
                "'temperature' in the mapping"
            )
        self.robot = robot
        self.dataset = dataset
        self.processing = processing
        self.wide = WideRegressor(robot, coulomb_slope)
        self.names, self.n, self.columns = self.wide.names, self.wide.n, self.wide.columns
        self.memory_mb = memory_mb
        rows = len(dataset) / (processing.decimation or 1)
        self._keep = 8.0 * self.wide.width * rows <= memory_mb * 1e6
        self._free = free
        self._kept: list[Rows] | None = None
        self._projected: list[Rows] | None = None
        self.reversals = SharedReversals(coulomb_slope)
        # Rows of each joint that its reversals took.
        self.taken = np.zeros(self.n, int)
        # Deviation of the time offset of the torques that the processing corrects, s.
        self.offset_std = 0.0

    def of(self, dataset: Dataset, processing: Processing | None = None) -> Observation:
        """
        Return the same rows of other data of the same motion, with the same reversals.

        :param processing: another one with the same rows; None: the same.
        """
        slope, form = self.wide.coulomb_slope, processing or self.processing
        made = Observation(self.robot, dataset, form, slope, self.memory_mb, self._free)
        made.reversals = self.reversals
        return made

    def projected(self, reversals: SharedReversals | None = None) -> Observation:
        """
        Return the same rows, made once, without the effect of the reversals.

        :param reversals: those of another law of friction; None: their own.
        """
        slope = self.wide.coulomb_slope
        made = Observation(
            self.robot, self.dataset, self.processing, slope, self.memory_mb, free=True
        )
        made.reversals = reversals or made.reversals
        if self._keep:
            next(self.rows(), None)  # walks all of them and keeps them
        if self._kept is not None:
            made._kept = self._kept
            made._projected, made.taken = made._without_reversals(self._kept)
        return made

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line where the rows are too many to project the reversals out."""
        if self._keep or not self._free:
            return ()
        return (f'{len(self.dataset)} samples exceed memory_mb: reversals=keep; raise it',)

    def rows(self, progress: Progress = silent) -> Iterator[Rows]:
        """Yield the decimated rows [W Y] of all data, rest band included."""
        if not self._keep:
            yield from walk(self.dataset, self.processing, self._columns, progress, keep=False)
            return
        if self._projected is None:
            kept = list(walk(self.dataset, self.processing, self._columns, progress))
            self._kept = self._projected = kept
            if self._free:
                self._projected, self.taken = self._without_reversals(kept)
        yield from self._projected

    def _without_reversals(self, kept: list[Rows]) -> tuple[list[Rows], NDArray[np.intp]]:
        """Return the rows with each joint's reversals projected out, and how many these took."""
        joined = [join([part for part in kept if part.run == k]) for k in {p.run for p in kept}]
        projected, taken = [], np.zeros(self.n, int)
        for rows in joined:
            run, values = self.dataset.runs[rows.run], rows.values  # joined: not those of `kept`
            for j, joint in enumerate(self.robot.joints):
                if acts_at_rest(joint):
                    continue
                used, own = rows.used[:, j], self.wide.places(j)
                time = rows.time[used]
                bases = self.reversals.bases(rows.run, run, j, time, self.processing)
                inside = np.ix_(used, own)
                values[inside], count = without(values[inside], bases)
                taken[j] += count
            projected.append(replace(rows, values=values))
        return projected, taken

    def _columns(self, s: States) -> Array:
        """Return [W Y dY/dt] of states: the rate of the torques determines their time offset."""
        W = self.wide(s.q, s.dq, s.ddq, s.torque, s.temperature)
        return np.concatenate([W, self._torques(s)[:, self.n :]], axis=1)

    def _torques(self, s: States) -> Array:
        """Return [Y dY/dt] of states."""
        rate = np.zeros_like(s.torque)
        if len(rate) > 1:
            rate = np.gradient(s.torque, 1.0 / self.dataset.rate, axis=0)
        return np.concatenate([s.torque, rate], axis=1)

    def torque_rate(self, rows: Rows) -> Array:
        """(r, n) dY/dt of rows."""
        return rows.values[:, self.wide.width :]

    @property
    def kept_rows(self) -> list[Rows] | None:
        """The rows of all data where they are kept in memory (after the first pass)."""
        return self._projected

    def blocks(self, progress: Progress = silent) -> Iterator[Block]:
        """Yield (joint, W_j rows, Y_j rows) through all data; W_j has the columns[j] only."""
        for rows in self.rows(progress):
            for j in range(self.n):
                W, Y = self.wide.of_joint(rows.values, j)
                used = rows.used[:, j]
                yield (j, W, Y) if used.all() else (j, W[used], Y[used])

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
        return JointFactors.of_factors(self.names, self.columns, factors)

    def residuals(self, chi: Array, progress: Progress = silent) -> list[Array]:
        """Return Y_j - W_j chi of every joint, all runs one after another."""
        parts: list[list[Array]] = [[] for _ in range(self.n)]
        for j, W, Y in self.blocks(progress):
            parts[j].append(Y - W @ chi[self.columns[j]])
        return [np.concatenate(part) if part else np.empty(0) for part in parts]

    def predict(self, chi: Array, progress: Progress = silent) -> Prediction:
        """Return measured and predicted torques of the rows; a second pass where none are kept."""
        if self._kept is None:
            slope = self.wide.coulomb_slope
            return predict(self.robot, chi, self.dataset, self.processing, slope, progress, False)
        pieces = [
            (
                rows.run,
                PredictedRun(
                    rows.time,
                    self.wide.measured(rows.values),
                    self.wide.predicted(rows.values, chi),
                    rows.used,
                ),
            )
            for rows in self._kept
        ]
        return Prediction.of_pieces(self.dataset, pieces)


__all__ = ['Observation']
