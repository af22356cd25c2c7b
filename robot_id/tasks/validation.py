"""Validation: how well identified parameters explain data that the fit has not seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files, options
from robot_id.blas_threads import one_blas_thread
from robot_id.control import tune
from robot_id.data.dataset import Dataset
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing, usable
from robot_id.dynamics import simulate
from robot_id.exceptions import DescriptionError, SimulationError
from robot_id.json_numbers import finite_or_none
from robot_id.methods.closed_loop.problem import SETTLING
from robot_id.methods.closed_loop.reference import reference_of
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.registry import TORQUE_FREE
from robot_id.methods.result import Result
from robot_id.plain_table import html_lines, html_table, number, text_table
from robot_id.progress import Progress, silent
from robot_id.regression.preprocessing.options import resolve_options
from robot_id.regression.rows.prediction import Prediction, predict
from robot_id.regression.rows.sampling import long_enough
from robot_id.robot import Robot
from robot_id.tasks.measurements import require_torque
from robot_id.tasks.torque_free import is_torque_free, method_of, position_prediction

SCHEMA = 1
_HEADS = ('joint', 'validation error %')
Array = NDArray[np.float64]
OUTPUTS = ('position', 'velocity', 'acceleration', 'torque')


def simulation_errors(
    robot: Robot,
    chi: Array,
    dataset: Dataset,
    processing: Processing,
    coulomb_slope: float | None = None,
) -> tuple[dict[str, float] | None, tuple[str, ...]]:
    """
    Return 100 ||x - x_simulated|| / ||x|| for position, velocity, acceleration, torque.

    The robot's own loop follows the recorded reference from the measured start; the first 5 / wn
    of a run are left out. Measured velocities and accelerations come from the filtered position,
    torques are compared as they were recorded. None, with the reason, where that is impossible.
    """
    if 'default' not in robot.description.loops:
        return None, ('no closed-loop simulation: the robot file has no loop',)
    indices, _ = long_enough(dataset, processing)
    runs = [dataset.runs[k] for k in indices if dataset.runs[k].reference_position is not None]
    if not runs:
        return None, ('no closed-loop simulation: the data have no reference',)
    loop = robot.loop()
    try:
        controller = tune(robot, loop)
    except DescriptionError:
        controller = tune(robot, loop, chi)
    slope = coulomb_slope or robot.description.identification_slope
    square, size = np.zeros(4), np.zeros(4)
    for run in runs:
        every = max(1, round(loop.rate_hz / run.rate))
        reference = reference_of(run, processing, every)
        q, dq, ddq = differentiate(run, processing, (0, len(run)))
        try:
            found = simulate(
                robot,
                chi,
                reference,
                replace(controller, rate_hz=reference.rate),
                coulomb_slope=slope,
                initial=(q[0], dq[0]),
            )
        except SimulationError as error:
            return None, (f'no closed-loop simulation: {error}',)
        first, last = usable(run, processing)
        first = max(first, int(np.ceil(SETTLING / min(loop.bandwidth) * run.rate)))
        if first >= last:
            return None, ('no closed-loop simulation: the runs end before the loop has settled',)
        simulated = (found.position, found.velocity, found.acceleration, found.torque)
        for k, (x, s) in enumerate(zip((q, dq, ddq, run.torque), simulated)):
            square[k] += np.sum((x - s[::every])[first:last] ** 2)
            size[k] += np.sum(x[first:last] ** 2)
    errors = 100.0 * np.sqrt(square / np.where(size > 0, size, np.nan))
    return {name: float(error) for name, error in zip(OUTPUTS, errors)}, ()


@dataclass(frozen=True, repr=False)
class Validation:
    """
    Errors of a result on other data.

    :param robot: name of the robot.
    :param method: method that identified the parameters.
    :param source: where the data came from.
    :param prediction: measured and predicted torques.
    :param simulation: relative errors in percent of a closed-loop simulation (keys position,
        velocity, acceleration, torque); None where the loop or the reference is not known.
    :param notes: what was done to the data.
    :param warnings: one line each.
    """

    robot: str
    method: str
    source: str
    prediction: Prediction
    simulation: dict[str, float] | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.prediction.joint_names

    @property
    def torque_relative_error_percent(self) -> float:
        """100 ||Y - W chi|| / ||Y||."""
        return self.prediction.relative_error_percent

    @property
    def error_percent(self) -> float:
        """The same by a shorter name."""
        return self.torque_relative_error_percent

    def _rows(self) -> list[tuple[str, str]]:
        return [
            *((name, number(v, 4)) for name, v in zip(self.joint_names, self.per_joint)),
            ('all', number(self.error_percent, 4)),
        ]

    def __repr__(self) -> str:
        return '\n'.join([self.source, text_table(_HEADS, self._rows()), *self.warnings])

    def _repr_html_(self) -> str:
        lines = [f'{self.robot}, {self.method}: {self.source}']
        return html_lines(lines) + html_table(_HEADS, self._rows()) + html_lines(self.warnings)

    @property
    def per_joint(self) -> list[float]:
        """The same for each joint."""
        return [float(v) for v in self.prediction.relative_error_percent_per_joint]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form (a joint without torque has null)."""
        return {
            'schema': SCHEMA,
            'robot': self.robot,
            'method': self.method,
            'data': self.source,
            'joint_names': list(self.joint_names),
            'quantity': self.prediction.quantity,
            f'{self.prediction.quantity}_relative_error_percent': finite_or_none(
                self.torque_relative_error_percent
            ),
            'per_joint': [finite_or_none(v) for v in self.per_joint],
            'simulation': self.simulation,
            'notes': list(self.notes),
            'warnings': list(self.warnings),
        }

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file."""
        files.write_text(path, json.dumps(self.to_dict(), indent=1) + '\n')


@dataclass(frozen=True)
class Conditions:
    """
    Options of a validation.

    :param processing: how the measurements are filtered, differentiated and decimated.
    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq).
    """

    processing: Processing = field(default_factory=Processing)
    coulomb_slope: float | None = None

    @classmethod
    def of(
        cls, result: Result, rate: float, overrides: Mapping[str, Any] | None = None
    ) -> Conditions:
        """
        Take over the options of an identification.

        What counts samples (decimation, border) is derived again for data of another rate.

        :param result: what was identified.
        :param rate: sampling frequency of the data to validate on, Hz.
        :param overrides: options to replace, by key.
        """
        known = set(options.options_of(cls))
        if not np.isclose(result.extras.get('rate_hz', rate), rate, rtol=0.01):
            known -= {'decimation', 'border'}
        same = {key: value for key, value in result.options.items() if key in known}
        return options.build(cls, same | dict(overrides or {}), owner='validate')


@one_blas_thread()
def validate(
    robot: Robot,
    result: Result,
    dataset: Dataset,
    conditions: Conditions | None = None,
    progress: Progress = silent,
) -> Validation:
    """
    Predict the torques of a data set with identified parameters.

    :param robot: the Robot.
    :param result: what was identified, for this robot.
    :param dataset: measurements with at least the robot's joints.
    :param conditions: how to process them; as in the identification when None.
    :param progress: called with the fraction done.
    """
    if is_torque_free(result):
        dataset = dataset.select(robot.joint_names)
        predicted = position_prediction(robot, method_of(result), result, dataset)
        return Validation(
            robot.name, result.method, dataset.source, predicted, notes=dataset.notes
        )
    require_torque(dataset, 'a result of torques', f'results of {", ".join(TORQUE_FREE)}')
    robot = robot_for(robot, result)
    chi = parameters_for(robot, result)
    dataset = dataset.select(robot.joint_names)
    conditions = conditions or Conditions.of(result, dataset.rate)
    slope = conditions.coulomb_slope
    resolved = resolve_options(conditions.processing, dataset, robot, slope).processing
    prediction = predict(robot, chi, dataset, resolved, slope, progress)
    simulation, reasons = simulation_errors(robot, chi, dataset, resolved)
    return Validation(
        robot.name,
        result.method,
        dataset.source,
        prediction,
        simulation,
        notes=(*dataset.notes, *resolved.describe(dataset.rate), *reasons),
        warnings=long_enough(dataset, resolved)[1],
    )
