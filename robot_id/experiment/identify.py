"""From measurements to parameters, the whole way: what the doors ask for, and what they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_id.data import Dataset
from robot_id.estimation import registry
from robot_id.estimation.result import Result
from robot_id.experiment.friction import prepare_friction
from robot_id.experiment.measurements import implausible, load_for
from robot_id.experiment.validation import Validation, validate
from robot_id.model import Robot, load_robot
from robot_id.progress import Progress, part_of, silent
from robot_id.regression.prediction import Prediction


@dataclass(frozen=True)
class Request:
    """
    An identification to do.

    :param robot: the Robot, or a shipped name, a robot file or a URDF.
    :param data: the measurements, or the recordings to read.
    :param method: name of the method, see `estimation.registry`.
    :param options: its options by key, texts or typed values.
    :param mapping: which columns are what: a name or a YAML file.
    :param others: recordings that the fit must not see, to predict their torques.
    :param friction: friction terms of all joints, 'auto' for what hold-out data pay for; None for
        those of the robot file.
    """

    robot: Robot | str
    data: Dataset | Sequence[str | Path]
    method: str = 'idim_wls'
    options: Mapping[str, Any] = field(default_factory=dict)
    mapping: str | Path | None = None
    others: Sequence[str | Path] = ()
    friction: str | None = None


@dataclass(frozen=True)
class Identification:
    """
    What was identified, and from what.

    :param robot: the Robot.
    :param dataset: the measurements, columns in the order of the robot's joints.
    :param result: the parameters.
    :param prediction: torques that they predict along these measurements.
    :param validation: errors on the other recordings, None without any.
    :param findings: what looks wrong in the measurements.
    """

    robot: Robot
    dataset: Dataset
    result: Result
    prediction: Prediction
    validation: Validation | None = None
    findings: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line each: what looks wrong in the data, then in the result."""
        validation = self.validation.warnings if self.validation else ()
        return (*self.findings, *self.result.warnings, *validation)


def identify(request: Request, progress: Progress = silent) -> Identification:
    """
    Read the measurements, look at them, identify, and validate on the other recordings.

    :param progress: called with the fraction done; may raise to cancel.
    """
    method = registry.create(request.method, request.options)
    progress(0.0, 'loading the robot')
    robot = request.robot if isinstance(request.robot, Robot) else load_robot(request.robot)
    progress(0.02, 'reading the recording')
    dataset = _measurements(robot, request.data, request.mapping)
    others = load_for(robot, request.others, request.mapping) if request.others else None
    findings = implausible(robot, dataset)
    if others is not None:
        findings += implausible(robot, others)
    friction = prepare_friction(
        robot, dataset, method, request.friction, part_of(progress, 0.05, 0.1)
    )
    robot = friction.robot
    result = method.estimate(robot, dataset, part_of(progress, 0.1, 0.9, 'identifying'))
    result = friction.complete(result, given=request.friction is not None)
    assert result.prediction is not None
    validation = None
    if others is not None:
        validation = validate(robot, result, others, progress=part_of(progress, 0.9, 1.0))
    progress(1.0, 'done')
    return Identification(robot, dataset, result, result.prediction, validation, findings)


def _measurements(
    robot: Robot, given: Dataset | Sequence[str | Path], mapping: str | Path | None
) -> Dataset:
    if isinstance(given, Dataset):
        return given.select(robot.joint_names)
    return load_for(robot, given, mapping)
