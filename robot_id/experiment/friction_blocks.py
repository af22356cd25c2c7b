"""
Blocked cross-validation of a linear model: whole runs, or contiguous blocks with a gap.

Each block is reduced to triangular factors once, its edges apart from its core; a fold then costs
one small factorisation, whatever the length of the recording.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing
from robot_id.regression.observation import Observation
from robot_id.regression.prediction import relative_error_percent
from robot_id.regression.system import System
from robot_id.regression.triangular import JointFactors, RowFactor, triangle

Array = NDArray[np.float64]
FOLDS = 8
# Runs are the blocks from this number on.
ENOUGH_RUNS = 4
GAP_S = 0.25


@dataclass(frozen=True)
class CrossValidation:
    """
    How a structure does on blocks that were not fitted.

    :param chi: (b,) weighted fit to all data.
    :param weights: (n,) weights of the joints.
    :param residual: (K, n) ||Y_j - W_j chi|| of each block, fitted without it.
    :param torque: (K, n) ||Y_j|| of each block.
    :param fit_percent: relative torque error of the fit to all data.
    """

    chi: Array
    weights: Array
    residual: Array
    torque: Array
    fit_percent: float

    @property
    def percent(self) -> float:
        """Relative torque error on the blocks left out."""
        return relative_error_percent(
            np.linalg.norm(self.residual, axis=0), np.linalg.norm(self.torque, axis=0)
        )

    @property
    def squares(self) -> Array:
        """(K,) weighted squared errors of the blocks."""
        return np.asarray(np.sum((self.weights * self.residual) ** 2, axis=1))

    @property
    def weighted(self) -> float:
        """Weighted squared error of all blocks."""
        return float(self.squares.sum())

    def gain_over(self, other: CrossValidation) -> tuple[float, float]:
        """Return the mean gain over another structure, percent of its error, and its error."""
        difference = other.squares - self.squares
        K = len(difference)
        scale = 100.0 / max(float(other.squares.mean()), 1e-300)
        error = float(np.std(difference, ddof=1) / np.sqrt(K)) if K > 1 else float('inf')
        return scale * float(difference.mean()), scale * error


@dataclass(frozen=True)
class Blocks:
    """
    How rows are split.

    :param edges: for each run the times at which its blocks begin, and its end.
    :param gap_s: rows so near to a block are not fitted when it is left out.
    :param whole_runs: blocks are runs.
    """

    edges: tuple[Array, ...]
    gap_s: float
    whole_runs: bool

    @classmethod
    def of(cls, dataset: Dataset, processing: Processing, folds: int = FOLDS) -> Blocks:
        """Return the runs of a data set, or contiguous blocks of about equal length."""
        ends = [(run.time[0], run.time[-1]) for run in dataset.runs]
        if len(dataset.runs) >= ENOUGH_RUNS:
            return cls(tuple(np.array(pair) for pair in ends), 0.0, True)
        total = sum(run.duration for run in dataset.runs)
        counts = [max(1, round(folds * run.duration / total)) for run in dataset.runs]
        step = (processing.decimation or 1) / dataset.rate
        gap = min(max(GAP_S, 5.0 * step), 0.1 * total / folds)
        return cls(
            tuple(np.linspace(*pair, count + 1) for pair, count in zip(ends, counts)), gap, False
        )

    def __str__(self) -> str:
        count = sum(len(edges) - 1 for edges in self.edges)
        if self.whole_runs:
            return f'{count} whole runs'
        return f'{count} contiguous blocks with gaps of {self.gap_s:.2g} s'

    def validate(self, observation: Observation, weights: Array | None = None) -> CrossValidation:
        """
        Fit every set of all blocks but one and predict that one.

        :param weights: (n,) of the joints; None for those of the fit to all data.
        """
        b = len(observation.names)
        parts = self._parts(observation)
        whole = _joined([factor for part in parts for factor in part], observation)
        if weights is None:
            weights = System(whole).joint_weights()[0]
        chi = _solution(whole.stack(weights))
        tops = [[_rows(f, observation, weights, b) for f in part] for part in parts]
        residual, torque = [], []
        for k, own in enumerate(parts):
            train = [
                piece
                for i, part in enumerate(tops)
                for place, piece in enumerate(part)
                if i != k and not (i == k - 1 and place == 2) and not (i == k + 1 and place == 0)
            ]
            left_out = _joined(own, observation)
            found = _solution(triangle(np.concatenate(train)))
            residual.append(left_out.residual_norms(found))
            torque.append(left_out.torque_norms())
        fit = relative_error_percent(whole.residual_norms(chi), whole.torque_norms())
        return CrossValidation(chi, weights, np.array(residual), np.array(torque), fit)

    def _parts(self, observation: Observation) -> list[list[list[RowFactor]]]:
        """Return for each block the factors of its first edge, its core and its last edge."""
        starts = np.cumsum([0, *(len(edges) - 1 for edges in self.edges)])
        parts = [
            [[RowFactor(len(c) + 1) for c in observation.columns] for _ in range(3)]
            for _ in range(int(starts[-1]))
        ]
        for rows in observation.rows():
            edges = self.edges[rows.run]
            block = np.clip(np.searchsorted(edges, rows.time, 'right') - 1, 0, len(edges) - 2)
            place = np.ones(len(block), int)
            place[rows.time < edges[block] + self.gap_s] = 0
            place[rows.time >= edges[block + 1] - self.gap_s] = 2
            for j in range(observation.n):
                W, Y = observation.wide.of_joint(rows.values, j)
                both = np.column_stack([W, Y])
                for i in np.unique(block):
                    for p in range(3):
                        mine = (block == i) & (place == p) & rows.used[:, j]
                        parts[int(starts[rows.run]) + i][p][j].add(both[mine])
        return parts


def _joined(factors: list[list[RowFactor]], observation: Observation) -> JointFactors:
    """Return the factors of several parts together."""
    joined = [RowFactor(len(columns) + 1) for columns in observation.columns]
    rows = np.zeros(observation.n, int)
    for part in factors:
        for j, factor in enumerate(part):
            joined[j].add(factor.R)
            rows[j] += factor.rows
    return JointFactors(
        observation.names, observation.columns, tuple(factor.R for factor in joined), rows
    )


def _rows(part: list[RowFactor], observation: Observation, weights: Array, b: int) -> Array:
    """Return the weighted rows [W Y] of a part over all b columns."""
    rows = []
    for j, factor in enumerate(part):
        wide = np.zeros((factor.R.shape[0], b + 1))
        wide[:, np.append(observation.columns[j], b)] = weights[j] * factor.R
        rows.append(wide)
    return np.concatenate(rows)


def _solution(R: Array) -> Array:
    """Return the least-squares solution of a factor; what is not excited is zero."""
    norms = np.linalg.norm(R[:, :-1], axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    return np.asarray(np.linalg.lstsq(R[:, :-1] / scale, R[:, -1], rcond=1e-9)[0] / scale)
