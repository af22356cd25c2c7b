"""Blocks of every file, kept back from a fit to judge the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.exceptions import IdentificationError, RobotIdError
from robot_id.methods.registry import Method
from robot_id.methods.result import Result
from robot_id.options import options_of
from robot_id.progress import Progress, silent
from robot_id.regression.preprocessing.alignment import align
from robot_id.regression.preprocessing.resolve import resolve
from robot_id.regression.rows.prediction import PredictedRun, Prediction, predict
from robot_id.regression.rows.sampling import long_enough
from robot_id.robot import Robot
from robot_id.tasks.verdict.motion_parts import intervals, split_motion

FRACTION = 0.2
# Samples of a run worth fitting.
SHORTEST = 4
# Share of its freedom that the fit must keep without the part that is kept back: blocks lose their
# borders to the filters, and a fit to what is left of short blocks fails where the whole does not.
LEAST_FREEDOM = 0.5
REPEATED = (
    'the motion repeats itself: the hold-out error is no proof, since the same motion was fitted; '
    'record another motion and validate with it'
)


@dataclass(frozen=True)
class Holdout:
    """
    The errors of a fit without a part of the motion on that part.

    Both errors are of the rows that the default processing of all data gives, whatever options
    the fit had: so errors of fits with different options compare.

    :param fit: torques of the part that was fitted.
    :param kept: torques of the part that was kept back.
    :param repeated: the motion repeats itself so soon that what was kept back was fitted too.
    """

    fit: Prediction
    kept: Prediction
    repeated: bool = False

    @property
    def error_percent(self) -> float:
        """Hold-out error, 100 ||Y - W chi|| / ||Y|| of the part that was kept back, percent."""
        return self.kept.relative_error_percent

    @property
    def fit_error_percent(self) -> float:
        """Training error, 100 ||Y - W chi|| / ||Y|| of the part that was fitted, percent."""
        return self.fit.relative_error_percent


def hold_out(
    method: Method,
    robot: Robot,
    dataset: Dataset,
    result: Result,
    fraction: float = FRACTION,
    progress: Progress = silent,
) -> Holdout:
    """
    Fit the motion without blocks of every file, and predict the torques of these.

    :param method: that gave the result; its processing is kept as it was resolved for all data.
    :param result: of all data; an iterative method starts from it.
    :param fraction: of the moving time that is kept back.
    :raises RobotIdError: where the parts are too short.
    """
    parts = split_motion(dataset, max(2, round(1.0 / fraction)))
    held = parts.most_even()
    runs = [
        run.rows(first, last)
        for run, labels in zip(dataset.runs, parts.labels)
        for first, last in intervals(labels != held)
        if last - first >= SHORTEST
    ]
    if not runs:
        raise IdentificationError('the recording is too short to keep a part of it back')
    found = _as_resolved(method, result).estimate(
        robot, replace(dataset, runs=tuple(runs)), progress
    )
    if not found.converged:
        raise IdentificationError(f'{found.method} does not converge without the part kept back')
    if _freedom(found) < LEAST_FREEDOM * _freedom(result):
        raise IdentificationError(
            'filters leave too few equations of the motion around the blocks'
        )
    slope = result.options.get('coulomb_slope')
    times = _torque_times(robot, dataset, result, slope)
    rows = resolve(robot, dataset, processing=times).processing
    whole = predict(robot, found.values, dataset, rows, slope)
    indices, _ = long_enough(dataset, rows)
    unseen = [
        parts.labels[k][np.searchsorted(dataset.runs[k].time, run.time - 0.5 / dataset.rate)]
        == held
        for k, run in zip(indices, whole.runs)
    ]
    fit, kept = (
        replace(
            whole, runs=tuple(_rows(run, flags == late) for run, flags in zip(whole.runs, unseen))
        )
        for late in (False, True)
    )
    if not np.isfinite(kept.relative_error_percent):
        raise IdentificationError('the part that was kept back leaves no rows')
    return Holdout(fit, kept, parts.repeated)


def _freedom(result: Result) -> float:
    """Return the equations of a result less its parameters; 0 where it has no equations."""
    return float(max(result.extras.get('equations', 0) - len(result.names), 0))


def _rows(run: PredictedRun, chosen: NDArray[np.bool_]) -> PredictedRun:
    """Return the rows of a run that are chosen."""
    rows = {name: getattr(run, name)[chosen] for name in ('time', 'measured', 'predicted', 'used')}
    return replace(run, **rows)


def without_holdout(error: RobotIdError) -> str:
    """Return the note about a hold-out that was not possible."""
    return f'no hold-out error: {error}'


def _torque_times(
    robot: Robot, dataset: Dataset, result: Result, slope: float | None
) -> Processing:
    """
    Return when the torques act: it belongs to what a result predicts.

    Methods that simulate the loop line the torques up themselves and state no offset.
    """
    offset = result.options.get('torque_delay_s')
    stated = Processing(
        held_torque=bool(result.options.get('held_torque')),
        torque_delay_s=tuple(offset) if isinstance(offset, list) else offset,
    )
    return align(robot, dataset, slope).apply(stated)[0] if stated.offset_open else stated


def _as_resolved(method: Method, result: Result) -> Method:
    """Return the method with the options a result was found with, from its values if it can."""
    known: Sequence[str] = tuple(options_of(Processing))
    resolved = {key: result.options[key] for key in known if key in result.options}
    band = resolved.get('rest_band')
    resolved['rest_band'] = tuple(band) if isinstance(band, list) else band
    method = replace(method, processing=Processing(**resolved))
    if getattr(method, 'coulomb_slope', None) == 'auto':
        method = replace(method, coulomb_slope=result.options.get('coulomb_slope'))
    warm = getattr(method, 'starting_from', None)
    return method if warm is None else warm(result.values)
