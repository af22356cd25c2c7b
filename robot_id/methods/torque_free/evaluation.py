"""Errors of simulated positions: of whole runs, and against the horizon of the prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.run_names import run_labels
from robot_id.exceptions import shorten
from robot_id.methods.torque_free.problem import Problem
from robot_id.methods.torque_free.servo_run import ServoRun, servo_runs

Array = NDArray[np.float64]
# Horizons of the prediction, s; the last is the whole run.
HORIZONS = (0.1, 0.5, 2.0)
# Predictions of one horizon in a run at most.
MOST_WINDOWS = 60


def simulated(
    problem: Problem, x: Array, dataset: Dataset, step: float, held: bool
) -> list[Array]:
    """Return (N, n) simulated positions of each run from its measured first state on."""
    return _simulated(problem, x, servo_runs(dataset, step, held))


def _simulated(problem: Problem, x: Array, runs: list[ServoRun]) -> list[Array]:
    other = Problem(
        problem.robot, problem.inertia, problem.drive, problem.numbers, problem.unknowns,
        runs, problem.directions, free_start=False,
    )  # fmt: skip
    found = []
    for k, run in enumerate(runs):
        answer = other.simulate(x[: problem.shared], k, sensitive=False)
        found.append(np.full_like(run.measured, np.nan) if answer is None else answer[0])
    return found


def run_errors(dataset: Dataset, positions: list[Array]) -> list[dict[str, Any]]:
    """Return mean absolute, root-mean-square and largest error of each run, rad or m."""
    rows = []
    labels = run_labels(dataset.runs)
    for number, (run, position) in enumerate(zip(dataset.runs, positions), start=1):
        error = run.position - position
        rows.append(
            {
                'run': number,
                'name': shorten(labels[number - 1]),
                'samples': len(run),
                'mean_absolute_error': float(np.mean(np.abs(error))),
                'rms_error': float(np.sqrt(np.mean(error**2))),
                'largest_error': float(np.max(np.abs(error))),
                'per_joint': [float(v) for v in np.mean(np.abs(error), axis=0)],
            }
        )
    return rows


def horizon_errors(
    problem: Problem, x: Array, dataset: Dataset, step: float, held: bool
) -> list[dict[str, Any]]:
    """
    Return the mean absolute error of predictions that begin at measured states.

    A state in the middle of a run is that of a parabola through the samples around it.
    """
    runs = servo_runs(dataset, step, held)
    table: list[dict[str, Any]] = []
    for horizon in HORIZONS:
        pieces: list[ServoRun] = []
        for run in runs:
            length = round(horizon / run.inputs.step) + 1
            if len(run.measured) < length or length < 3:
                continue
            starts = range(0, len(run.measured) - length + 1, length - 1)
            spaced = starts[:: max(len(starts) // MOST_WINDOWS, 1)]
            pieces += [run.piece(first, first + length) for first in spaced]
        if pieces:
            table.append({'horizon_s': horizon, **_mean(problem, x, pieces)})
    return [*table, {'horizon_s': None, **_mean(problem, x, runs)}]


def _mean(problem: Problem, x: Array, runs: list[ServoRun]) -> dict[str, Any]:
    positions = _simulated(problem, x, runs)
    own = [np.mean(np.abs(run.measured - q)) for run, q in zip(runs, positions)]
    return {'mean_absolute_error': float(np.mean(own)), 'predictions': len(own)}
