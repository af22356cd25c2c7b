"""Validation: how well identified parameters explain data that the fit has not seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files, options
from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing
from robot_id.estimation.parameters import parameters_for, robot_for
from robot_id.estimation.result import Result
from robot_id.experiment.loop_validation import simulation_errors
from robot_id.model import Robot
from robot_id.model.json_numbers import finite_or_none
from robot_id.progress import Progress, silent
from robot_id.regression.derivation import derive
from robot_id.regression.prediction import Prediction, predict
from robot_id.regression.sampling import long_enough

SCHEMA = 1
Array = NDArray[np.float64]


@dataclass(frozen=True)
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
            'torque_relative_error_percent': finite_or_none(self.torque_relative_error_percent),
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
    robot = robot_for(robot, result)
    chi = parameters_for(robot, result)
    dataset = dataset.select(robot.joint_names)
    conditions = conditions or Conditions.of(result, dataset.rate)
    slope = conditions.coulomb_slope
    resolved = derive(conditions.processing, dataset, robot, slope).processing
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
