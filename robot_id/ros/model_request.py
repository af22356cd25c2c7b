"""New parameters for a controller's model, from a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError, DescriptionError, OptionError, shorten
from robot_id.methods.parameters import load_for_robot, parameters_for
from robot_id.methods.result import Result
from robot_id.robot import Robot
from robot_id.ros.data_directory import below
from robot_id.ros.messages import parameters_from, verdict_message
from robot_id.ros.refusal import Refusal
from robot_id_msgs.msg import DynamicParameters, ErrorCode, Verdict

Array = NDArray[np.float64]
# Of correlations that a sender has computed with another order of sums.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Wanted:
    """
    Parameters that a request asks for, and what is known of them.

    :param values: (b,).
    :param method: where they come from.
    :param verdict: robot_id_msgs/Verdict.
    :param covariance: (b, b); None where it is not given for every parameter.
    """

    values: Array
    method: str
    verdict: Verdict
    covariance: Array | None = None


def start_values(
    robot: Robot, path: str, accept_caution: bool = False
) -> tuple[Robot, Array, str]:
    """
    Return the robot, (b,) the values that a node starts with, and where they come from.

    :param path: a result file, whose friction the robot gets, or a model file; `urdf` takes the
        inertias of its URDF, '' the a priori values of the robot file.
    :param accept_caution: take a result whose verdict is caution.
    :raises Refusal: where the verdict does not allow it.
    """
    if not path:
        if not robot.description.a_priori:
            raise DescriptionError(
                f"{robot.name}: no model to start with: give 'a_priori' in a robot file, or the "
                "parameter 'parameters' (a result file, a model file, or urdf for the inertias "
                'of its URDF)'
            )
        return robot, robot.a_priori(), 'a_priori'
    robot, start, result = load_for_robot(robot, path)
    check_verdict(verdict_message(result.verdict, result.reasons), accept_caution, f'{path}: ')
    return robot, start, result.method


def check_verdict(verdict: Verdict, accepts_caution: bool, where: str = '') -> None:
    """
    Refuse parameters whose verdict does not allow to control a robot with them.

    :param where: put before the reason.
    :raises Refusal: with the first reason of the verdict.
    """
    why = f': {shorten(verdict.reasons[0])}' if verdict.reasons else ''
    if verdict.level == Verdict.DO_NOT_USE:
        raise Refusal(ErrorCode.VERDICT_REFUSED, f'{where}the verdict is do_not_use{why}')
    if verdict.level == Verdict.CAUTION and not accepts_caution:
        raise Refusal(
            ErrorCode.VERDICT_REFUSED,
            f'{where}the verdict is caution{why}: set accept_caution to use it all the same',
        )
    if verdict.level > Verdict.DO_NOT_USE:
        raise OptionError(f'verdict: level {verdict.level} is none of Verdict', key='verdict')


def requested(robot: Robot, request: Any, current: Array, data_directory: str) -> Wanted:
    """
    Return what a request asks for.

    :param request: of robot_id_msgs/srv/SetDynamicParameters.
    :param current: (b,) values that stay where the request names no others.
    :raises RobotIdError: on unknown or double names, values not finite, a path that leaves the
        data directory, a file that is no result of this robot.
    """
    given = request.parameters
    if len(given.names) or len(given.values):
        values = parameters_from(robot, given, current)
        covariance = _covariance(robot, given)
        return Wanted(values, given.method or 'user', given.verdict, covariance)
    if not request.json_path:
        raise DataError('neither parameters nor json_path are given')
    result = Result.load(below(data_directory, request.json_path))
    values = parameters_for(robot, result)
    known = covariance_for(robot, result.names, result.covariance)
    verdict = verdict_message(result.verdict, result.reasons)
    return Wanted(values, result.method, verdict, known)


def _covariance(robot: Robot, message: DynamicParameters) -> Array | None:
    """(b, b) of a message that names every parameter, in the robot's order; None without one."""
    b = len(message.names)
    if not len(message.covariance):
        return None
    if len(message.covariance) != b * b:
        raise DataError(f'{len(message.covariance)} values of covariance for {b} names, not b*b')
    given = np.reshape(np.asarray(message.covariance, float), (b, b))
    check_covariance(given, message.names)
    return covariance_for(robot, tuple(message.names), given)


def check_covariance(covariance: Array, names: Sequence[str]) -> None:
    """
    Refuse a matrix (b, b) that no errors can have; NaN on its diagonal says "unknown".

    :raises DataError: where a variance is negative or infinite, or two entries contradict.
    """
    variance = np.diag(covariance)
    known = ~np.isnan(variance)
    for name, value in zip(names, variance):
        if value < 0.0 or np.isinf(value):
            raise DataError(f"covariance: the variance of '{name}' is {value:g}")
    scale = np.sqrt(np.where(variance > 0.0, variance, 1.0))
    correlation = (covariance / np.outer(scale, scale))[np.ix_(known, known)]
    if not np.allclose(correlation, correlation.T, atol=ROUNDING):
        raise DataError('covariance: it is not symmetric, or not finite beside its diagonal')
    if known.any() and np.linalg.eigvalsh(correlation)[0] < -ROUNDING:
        raise DataError('covariance: a correlation is larger than 1, see its eigenvalues')


def covariance_for(robot: Robot, names: tuple[str, ...], covariance: Array) -> Array | None:
    """(b, b) in the robot's order; None where a parameter of the robot is not among the names."""
    own = robot.base.names
    if sorted(own) != sorted(names) or np.shape(covariance) != (len(names), len(names)):
        return None
    order = [names.index(name) for name in own]
    return np.asarray(covariance, float)[np.ix_(order, order)]
