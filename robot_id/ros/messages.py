"""Between our values and the messages of robot_id_msgs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray

from robot_id.exceptions import (
    ControlError,
    DataError,
    DescriptionError,
    IdentificationError,
    OptionError,
    RobotIdError,
    SimulationError,
    TrajectoryError,
    did_you_mean,
    shorten,
)
from robot_id_msgs.msg import DynamicParameters, ErrorCode, Verdict

if TYPE_CHECKING:
    from robot_id.robot import Robot

Array = NDArray[np.float64]

LEVELS = {
    None: Verdict.NONE,
    'usable': Verdict.USABLE,
    'caution': Verdict.CAUTION,
    'do_not_use': Verdict.DO_NOT_USE,
}
_CODES = {
    DescriptionError: ErrorCode.INVALID_ROBOT,
    DataError: ErrorCode.INVALID_DATA,
    OptionError: ErrorCode.INVALID_OPTION,
    TrajectoryError: ErrorCode.INVALID_TRAJECTORY,
    IdentificationError: ErrorCode.IDENTIFICATION_FAILED,
    SimulationError: ErrorCode.SIMULATION_FAILED,
    ControlError: ErrorCode.REFUSED,
}


class ForbiddenPath(RobotIdError):
    """A path outside the data directory, or a name that could lead there."""


class WrongState(RobotIdError):
    """A request that the node cannot fulfil in its state."""


def error_code(error: RobotIdError) -> int:
    """Return the error code of an exception."""
    if isinstance(error, ForbiddenPath):
        return ErrorCode.FORBIDDEN_PATH
    if isinstance(error, WrongState):
        return ErrorCode.INVALID_STATE
    for kind, code in _CODES.items():
        if isinstance(error, kind):
            return code
    return ErrorCode.INTERNAL_ERROR


def verdict_message(level: str | None, reasons: Iterable[str] = ()) -> Verdict:
    """
    Return the verdict on a result.

    :param level: usable, caution or do_not_use; None where nothing has judged it.
    """
    if level not in LEVELS:
        raise DataError(f"verdict '{shorten(level)}' is not usable, caution or do_not_use")
    return Verdict(level=LEVELS[level], reasons=list(reasons))


def verdict_word(verdict: Verdict) -> str:
    """Return the verdict of a message as results name it, 'none' where nothing has judged."""
    words = {level: word for word, level in LEVELS.items()}
    return words.get(verdict.level) or 'none'


def parameters_message(
    robot: Robot,
    values: Array,
    *,
    method: str,
    update: int,
    stamp: Time,
    deviations: Array | None = None,
    covariance: Array | None = None,
    essential: NDArray[np.bool_] | None = None,
    verdict: Verdict | None = None,
) -> DynamicParameters:
    """
    Return base parameters as a message.

    :param values: (b,); deviations (b,) standard deviations, NaN where unknown.
    :param covariance: (b, b), in the units of the values.
    """
    message = DynamicParameters(robot=robot.name, method=method, update=update)
    message.verdict = Verdict() if verdict is None else verdict
    message.header.stamp = stamp
    message.names = list(robot.base.names)
    message.values = [float(v) for v in values]
    if deviations is not None:
        size = np.abs(values)
        percent = np.where(
            size > 0.0, 100.0 * deviations / np.where(size > 0.0, size, 1.0), np.inf
        )
        message.standard_deviations = [float(v) for v in deviations]
        message.percent_standard_deviations = [float(v) for v in percent]
    if covariance is not None:
        message.covariance = np.asarray(covariance, float).ravel().tolist()
    if essential is not None:
        message.essential = [bool(v) for v in essential]
    return message


def parameters_from(robot: Robot, message: DynamicParameters, current: Array) -> Array:
    """
    Return (b,) the named values of a message; those that it does not name stay as they are.

    :raises DataError: naming the parameter that is unknown, double or not finite.
    """
    if message.version != DynamicParameters.VERSION:
        raise DataError(
            f'version {message.version} of DynamicParameters, this node knows '
            f'{DynamicParameters.VERSION}: build both sides with the same robot_id_msgs'
        )
    if len(message.names) != len(message.values):
        raise DataError(f'{len(message.names)} names for {len(message.values)} values')
    if message.robot and message.robot != robot.name:
        raise DataError(f"parameters of robot '{message.robot}', this is '{robot.name}'")
    known = robot.base.names
    chi = np.array(current, float)
    seen = set()
    for name, value in zip(message.names, message.values):
        if name not in known:
            raise DataError(f"{robot.name} has no parameter '{name}', {did_you_mean(name, known)}")
        if name in seen:
            raise DataError(f"parameter '{name}' appears more than once")
        if not np.isfinite(value):
            raise DataError(f"parameter '{name}' is not a finite number")
        seen.add(name)
        chi[known.index(name)] = value
    return chi
