"""Errors of simulated positions: of whole runs, and against the horizon of the prediction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.run_names import run_labels
from robot_id.exceptions import shorten
from robot_id.methods.torque_free.problem import Problem, servo_runs

Array = NDArray[np.float64]
# Horizons of the prediction, s; the last is the whole run.
HORIZONS = (0.1, 0.5, 2.0)
# Predictions of one horizon in a run at most.
MOST_WINDOWS = 60
# Seconds around a sample that its velocity is taken from.
AROUND = 0.06


def simulated(
    problem: Problem,
    x: Array,
    dataset: Dataset,
    step: float,
    held: bool,
    states: list[tuple[Array, Array]] | None = None,
) -> list[Array]:
    """
    Return (N, n) simulated positions of each run from its measured first state on.

    :param states: positions (n,) and velocities (n,) to begin with, where they are known better.
    """
    other = _for(problem, dataset, step, held)
    if states is not None:
        other.runs = tuple(
            replace(run, position=q, velocity=dq) for run, (q, dq) in zip(other.runs, states)
        )
    found = []
    for k, run in enumerate(other.runs):
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
    table: list[dict[str, Any]] = []
    for horizon in HORIZONS:
        pieces, states = [], []
        for run in dataset.runs:
            length = round(horizon * run.rate) + 1
            if len(run) < length or length < 3:
                continue
            starts = range(0, len(run) - length + 1, length - 1)
            for first in starts[:: max(len(starts) // MOST_WINDOWS, 1)]:
                pieces.append(run.rows(first, first + length))
                states.append(_state(run, first))
        if not pieces:
            continue
        part = Dataset(dataset.joint_names, tuple(pieces))
        errors = run_errors(part, simulated(problem, x, part, step, held, states))
        table.append({'horizon_s': horizon, **_mean(errors)})
    errors = run_errors(dataset, simulated(problem, x, dataset, step, held))
    return [*table, {'horizon_s': None, **_mean(errors)}]


def _state(run: Run, at: int) -> tuple[Array, Array]:
    """Return position and velocity at a sample, of a parabola through those around it."""
    reach = max(round(0.5 * AROUND / run.step), 2)
    first, last = max(at - reach, 0), min(at + reach + 1, len(run))
    t = run.step * (np.arange(first, last) - at)
    W = np.stack([np.ones(len(t)), t, t * t], axis=1)
    q, dq, _ = np.linalg.lstsq(W, run.position[first:last], rcond=None)[0]
    return q, dq


def _mean(errors: list[dict[str, Any]]) -> dict[str, Any]:
    own = [each['mean_absolute_error'] for each in errors]
    return {'mean_absolute_error': float(np.mean(own)), 'predictions': len(own)}


def _for(problem: Problem, dataset: Dataset, step: float, held: bool) -> Problem:
    """Return the same problem with other runs, from their measured first states on."""
    return Problem(
        problem.robot, problem.inertia, problem.drive, problem.numbers, problem.unknowns,
        servo_runs(dataset, step, held), problem.directions, free_start=False,
    )  # fmt: skip
