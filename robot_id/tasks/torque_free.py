"""Identification and validation from commanded and measured positions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import options
from robot_id.data import Dataset
from robot_id.exceptions import DataError
from robot_id.methods.registry import TORQUE_FREE, create
from robot_id.methods.result import Result
from robot_id.methods.torque_free.evaluation import run_errors
from robot_id.methods.torque_free.servo_oe import ServoOe, held_out_groups
from robot_id.methods.torque_free.servo_run import SHORTEST
from robot_id.progress import Progress, part_of, silent
from robot_id.regression.rows.prediction import PredictedRun, Prediction
from robot_id.robot import Robot
from robot_id.tasks.verdict.verdict import Remark, Verdict

Array = NDArray[np.float64]
# Position errors of a simulated run, percent of its motion: beyond them caution, or no use.
CAUTION_PERCENT, USELESS_PERCENT = 20.0, 40.0
# A parameter that is known to this share of its value, 95 %, is well known.
POOR_PERCENT = 50.0


def is_torque_free(result: Result) -> bool:
    """Whether a result was identified without torques."""
    return result.method in TORQUE_FREE


def method_of(result: Result) -> ServoOe:
    """Return the method with the options that made a result."""
    known = options.options_of(ServoOe)
    values = {key: value for key, value in result.options.items() if key in known}
    method = create(result.method, values)
    assert isinstance(method, ServoOe)
    return method


def position_prediction(
    robot: Robot, method: ServoOe, result: Result, dataset: Dataset
) -> Prediction:
    """Return measured and simulated positions, each run from its measured first state on."""
    dataset = dataset.select(robot.joint_names)
    runs = []
    for run, simulated in zip(dataset.runs, method.errors(robot, result, dataset)):
        used = np.isfinite(simulated)
        mean = run.position.mean(axis=0)
        runs.append(PredictedRun(run.time, run.position - mean, simulated - mean, used, run))
    if not all(run.used.any() for run in runs):
        raise DataError(f'{dataset.source or "recording"}: its simulation diverges')
    return Prediction(robot.joint_names, tuple(runs), 'position')


def estimate(
    robot: Robot,
    method: ServoOe,
    dataset: Dataset,
    holdout: float | Dataset,
    remarks: Sequence[Remark] = (),
    progress: Progress = silent,
) -> tuple[Result, Prediction]:
    """
    Return the judged result and its simulated positions.

    :param holdout: recordings that judge the fit; or the share of a single recording, at its end,
        that is held out: of several, each group of runs is, whatever the share; 0 for none.
    :param remarks: of the check of the data.
    """
    result = method.estimate(robot, dataset, part_of(progress, 0.0, 0.8, 'identifying'))
    method = method_of(result)
    prediction = position_prediction(robot, method, result, dataset)
    share = part_of(progress, 0.8, 1.0, 'hold-out')
    if isinstance(holdout, Dataset):
        error = position_prediction(robot, method, result, holdout).relative_error_percent
        result = replace(result, holdout_error_percent=error)
    elif holdout and len(dataset.runs) > 1:
        error, rows = _held_out(robot, method, result, dataset, share)
        extras = result.extras | {'holdout': rows}
        result = replace(result, holdout_error_percent=error, extras=extras)
    elif holdout:
        error = _end_held_out(robot, method, result, dataset, holdout)
        result = replace(result, holdout_error_percent=error)
    verdict = Verdict.of([*_remarks(result, prediction), *remarks])
    return replace(
        result, verdict=verdict.level, reasons=verdict.reasons, prediction=prediction
    ), prediction


def _end_held_out(
    robot: Robot, method: ServoOe, result: Result, dataset: Dataset, share: float
) -> float:
    """Return the relative position error at the end of a recording by a fit without it."""
    (run,) = dataset.runs
    first = len(run) - round(share * len(run))
    if min(first, len(run) - first) < SHORTEST:
        return float('nan')
    start, end = (
        replace(dataset, runs=(part,)) for part in (run.rows(0, first), run.rows(first, len(run)))
    )
    refitted = method.refit(robot, start, result)
    return position_prediction(robot, method, refitted, end).relative_error_percent


def _held_out(
    robot: Robot, method: ServoOe, result: Result, dataset: Dataset, progress: Progress
) -> tuple[float, list[dict[str, Any]]]:
    """Return the relative position error of every group, each by a fit without it."""
    groups = held_out_groups(dataset)
    square = size = 0.0
    rows: list[dict[str, Any]] = []
    for number, group in enumerate(groups):
        progress(number / len(groups), f'hold-out {number + 1} of {len(groups)}')
        kept = [run for i, run in enumerate(dataset.runs) if i not in group]
        refitted = method.refit(robot, replace(dataset, runs=tuple(kept)), result)
        other = replace(dataset, runs=tuple(dataset.runs[i] for i in group))
        found = position_prediction(robot, method, refitted, other)
        square += float(np.sum(found.residual_norms() ** 2))
        size += float(np.sum(found.torque_norms() ** 2))
        positions = [
            run.predicted + original.position.mean(axis=0)
            for run, original in zip(found.runs, other.select(robot.joint_names).runs)
        ]
        for i, row in zip(group, run_errors(other.select(robot.joint_names), positions)):
            rows.append(row | {'run': i + 1})
    return 100.0 * float(np.sqrt(square / max(size, 1e-300))), rows


def _remarks(result: Result, prediction: Prediction) -> list[Remark]:
    """Return what speaks against a result."""
    error = result.holdout_error_percent
    what = 'hold-out error'
    if not np.isfinite(error):
        error, what = prediction.relative_error_percent, 'training error'
    if not result.converged:
        return [Remark('do_not_use', 'the fit did not converge')]
    if not error < USELESS_PERCENT:
        text = f'{what} {error:.3g} % of the motion: the model does not explain it'
        return [Remark('do_not_use', text)]
    found = [Remark('caution', line) for line in result.extras.get('not_identifiable', ())]
    if error > CAUTION_PERCENT:
        found.insert(0, Remark('caution', f'{what} {error:.3g} % of the motion'))
    return found + [_bound_remark(name) for name in _determined_bounds(result)]


def _determined_bounds(result: Result) -> list[str]:
    """Return the parameters that the data would move past a bound."""
    return [
        name
        for name in result.extras.get('at_bound', ())
        if np.isfinite(result.std[result.names.index(name)])
    ]


def _bound_remark(name: str) -> Remark:
    kind, _, joint = name.partition('.')
    if kind != 'bias':
        return Remark('caution', f"'{name}' is at its bound: give a start, or fix it")
    return Remark(
        'do_not_use',
        f"joint '{joint}': its zero or its direction is not that of the robot file, by the way "
        "gravity acts: 'offset' or 'scale: -1' of position and reference_position in the mapping",
    )
