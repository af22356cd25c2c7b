"""
Blocked cross-validation of a linear model: contiguous blocks of every file, with gaps.

A fold has blocks of all files, and all motion that repeats them (`motion_parts`). The rows of each
fold are reduced to triangular factors once, those near to another fold apart from the others; a
fold then costs one small factorisation, whatever the length of the recording.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.regression.rows.observation import Observation
from robot_id.regression.rows.prediction import relative_error_percent
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import (
    JointFactors,
    RowFactor,
    smallest_solution,
    triangle,
)
from robot_id.tasks.verdict.motion_parts import MotionParts, split_motion

Array = NDArray[np.float64]
FOLDS = 8
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

    :param parts: the fold of each sample.
    :param gap_s: rows so near to a fold are not fitted when it is left out.
    """

    parts: MotionParts
    gap_s: float

    @classmethod
    def of(cls, dataset: Dataset, processing: Processing, folds: int = FOLDS) -> Blocks:
        """Return the folds of a data set."""
        total = sum(run.duration for run in dataset.runs)
        step = (processing.decimation or 1) / dataset.rate
        gap = min(max(GAP_S, 5.0 * step), 0.1 * total / folds)
        return cls(split_motion(dataset, folds), gap)

    def __str__(self) -> str:
        said = f'{self.parts.count} folds of blocks of every file with gaps of {self.gap_s:.2g} s'
        return said + (', which repeat each other' if self.parts.repeated else '')

    def validate(self, observation: Observation, weights: Array | None = None) -> CrossValidation:
        """
        Fit every set of all blocks but one and predict that one.

        :param weights: (n,) of the joints; None for those of the fit to all data.
        """
        b, folds = len(observation.names), self.parts.count
        parts = self._factors(observation)
        whole = _joined(list(parts.values()), observation)
        if weights is None:
            weights = System(whole).joint_weights()[0]
        chi = smallest_solution(whole.stack(weights))
        tops = {key: _rows(part, observation, weights, b) for key, part in parts.items()}
        residual, torque = [], []
        for k in range(folds):
            own = [part for (fold, _), part in parts.items() if fold == k]
            train = [piece for key, piece in tops.items() if k not in key]
            if not own or not train:
                continue
            left_out = _joined(own, observation)
            found = smallest_solution(triangle(np.concatenate(train)))
            residual.append(left_out.residual_norms(found))
            torque.append(left_out.torque_norms())
        fit = relative_error_percent(whole.residual_norms(chi), whole.torque_norms())
        return CrossValidation(chi, weights, np.array(residual), np.array(torque), fit)

    def _factors(self, observation: Observation) -> dict[tuple[int, int], list[RowFactor]]:
        """Return the factors of each joint by the fold of their rows and the fold next to them."""
        found: dict[tuple[int, int], list[RowFactor]] = {}
        for rows in observation.rows():
            run, labels = observation.dataset.runs[rows.run], self.parts.labels[rows.run]
            at = np.searchsorted(run.time, rows.time - 0.5 * run.step)
            gap = round(self.gap_s * run.rate)
            fold = labels[at]
            before, after = (
                labels[np.clip(at + shift, 0, len(labels) - 1)] for shift in (-gap, gap)
            )
            near = np.where(before != fold, before, after)
            for key in sorted(set(zip(fold.tolist(), near.tolist()))):
                part = found.setdefault(
                    key, [RowFactor(len(columns) + 1) for columns in observation.columns]
                )
                chosen = (fold == key[0]) & (near == key[1])
                for j in range(observation.n):
                    W, Y = observation.wide.of_joint(rows.values, j)
                    mine = chosen & rows.used[:, j]
                    part[j].add(np.column_stack([W[mine], Y[mine]]))
        return found


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
