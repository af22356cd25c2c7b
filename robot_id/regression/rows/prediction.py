"""Torques that a set of parameters predicts along measured motion, processed as for the fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.processing import Processing
from robot_id.dynamics.temperature import feels_temperature, warm_torques
from robot_id.progress import Progress, silent
from robot_id.regression.rows.sampling import States, walk
from robot_id.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class PredictedRun:
    """
    Torques of one run after decimation.

    :param time: (r,) seconds.
    :param measured: (r, n) measured torques.
    :param predicted: (r, n) W chi.
    :param used: (r, n) samples outside the rest band.
    :param recorded: the run before filters and decimation.
    """

    time: Array
    measured: Array
    predicted: Array
    used: NDArray[np.bool_]
    recorded: Run | None = None

    def __repr__(self) -> str:
        return f'PredictedRun({len(self.time)} rows; time, measured, predicted, used)'


@dataclass(frozen=True, repr=False)
class Prediction:
    """
    Measured and predicted torques of all runs.

    :param joint_names: names of the n joints.
    :param runs: the runs.
    :param quantity: torque, or position where no torques were recorded.
    """

    joint_names: tuple[str, ...]
    runs: tuple[PredictedRun, ...]
    quantity: str = 'torque'

    @classmethod
    def of_pieces(cls, dataset: Dataset, pieces: Iterable[tuple[int, PredictedRun]]) -> Prediction:
        """Join pieces of the runs of a data set, each with the index of its run, in order."""
        parts: dict[int, list[PredictedRun]] = {}
        for run, piece in pieces:
            parts.setdefault(run, []).append(piece)
        names = ('time', 'measured', 'predicted', 'used')
        runs = (
            replace(
                part[0],
                recorded=dataset.runs[k],
                **{name: np.concatenate([getattr(p, name) for p in part]) for name in names},
            )
            for k, part in parts.items()
        )
        return cls(dataset.joint_names, tuple(runs))

    def __repr__(self) -> str:
        rows = sum(len(run.time) for run in self.runs)
        return (
            f'Prediction({self.quantity} of {", ".join(self.joint_names)}: {len(self.runs)} runs, '
            f'{rows} rows, error {self.relative_error_percent:.4g} %)'
        )

    def residual_norms(self) -> Array:
        """(n,) ||Y_j - W_j chi||."""
        return np.sqrt(
            sum(
                np.sum(np.where(r.used, r.measured - r.predicted, 0.0) ** 2, axis=0)
                for r in self.runs
            )
        )

    def torque_norms(self) -> Array:
        """(n,) ||Y_j||."""
        return np.sqrt(sum(np.sum((r.measured * r.used) ** 2, axis=0) for r in self.runs))

    @property
    def relative_error_percent(self) -> float:
        """100 ||Y - W chi|| / ||Y||."""
        return relative_error_percent(self.residual_norms(), self.torque_norms())

    @property
    def relative_error_percent_per_joint(self) -> Array:
        """(n,) the same for each joint, NaN for a joint without torque."""
        norms = self.torque_norms()
        return 100.0 * self.residual_norms() / np.where(norms > 0.0, norms, np.nan)


def predict(
    robot: Robot,
    chi: Array,
    dataset: Dataset,
    processing: Processing,
    coulomb_slope: float | None = None,
    progress: Progress = silent,
    keep: bool = True,
) -> Prediction:
    """
    Predict the torques along a data set.

    Decimation is linear, so decimating the predicted torque gives W chi without ever building W.

    :param robot: the Robot.
    :param chi: (b,) base parameters.
    :param dataset: the measurements, columns in the order of the robot's joints.
    :param processing: resolved for these data.
    :param coulomb_slope: slope of the smooth friction; None for sign(dq).
    :param progress: called with the fraction done.
    :param keep: keep the filtered motion with the data, for the next walk.
    """

    def torques(states: States) -> Array:
        predicted = dynamics.inverse_dynamics(
            robot, chi, states.q, states.dq, states.ddq, coulomb_slope=coulomb_slope
        )
        if states.temperature is not None and feels_temperature(robot):
            predicted += warm_torques(
                robot, chi, states.dq, states.temperature, coulomb_slope=coulomb_slope
            )
        return np.concatenate([states.torque, predicted], axis=1)

    n = robot.n
    pieces = [
        (rows.run, PredictedRun(rows.time, rows.values[:, :n], rows.values[:, n:], rows.used))
        for rows in walk(dataset, processing, torques, progress, keep=keep)
    ]
    return Prediction.of_pieces(dataset, pieces)


def relative_error_percent(residual_norms: Array, torque_norms: Array) -> float:
    """Return 100 ||Y - W chi|| / ||Y|| from the norms of the joints; NaN without any torque."""
    total = float(np.linalg.norm(torque_norms))
    return 100.0 * float(np.linalg.norm(residual_norms)) / total if total > 0.0 else float('nan')
