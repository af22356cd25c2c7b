"""The parameters of a Result for a robot: by name, complete and finite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.payload import PayloadEstimate, estimate_payload
from robot_id.exceptions import DataError, OptionError, shorten
from robot_id.methods.model_file import load_result_or_model
from robot_id.methods.result import Result
from robot_id.robot import Robot
from robot_id.robot.friction.replacement import with_friction

Array = NDArray[np.float64]


def added_load(robot: Robot, arm: Result, chi: Array, covariance: Array) -> PayloadEstimate:
    """
    Fit a load on the last link to the change from an earlier result to a present estimate.

    Parameters without a deviation in one of the two are not used.

    :param arm: result without the load, its parameters in any order.
    :param chi: (b,) the present estimate.
    :param covariance: (b, b) of it, NaN where a parameter is not known.
    """
    order = [arm.names.index(name) for name in robot.base.names]
    before = arm.covariance[np.ix_(order, order)]
    known = np.isfinite(np.diag(covariance)) & np.isfinite(np.diag(before))
    change = np.nan_to_num(covariance) + np.nan_to_num(before)
    return estimate_payload(robot, parameters_for(robot, arm), chi, change, known)


def load_parameters(robot: Robot, path: str | Path) -> Array:
    """Return (b,) the values of a result file in the order of the robot's parameters."""
    if not isinstance(path, (str, Path)):
        raise OptionError(f'the path of a result file is needed, got {shorten(repr(path))}')
    result = Result.load(path)
    try:
        return parameters_for(robot, result)
    except DataError as error:
        raise DataError(f'{path}: {error}') from error


def robot_for(robot: Robot, result: Result) -> Robot:
    """
    Return the robot with the friction of a result: its terms, its constants, and its load.

    A result that says nothing of friction has that of the robot file.
    """
    try:
        terms = {name: tuple(own) for name, own in result.friction.get('terms', {}).items()}
        constants: dict[str, dict[str, float]] = {}
        for one in result.friction.get('constants', []):
            constants.setdefault(one['joint'], {})[one['term']] = float(one['value'])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"the result's 'friction' is broken ({error!r})") from error
    if terms:
        robot = with_friction(robot, terms, constants)
    if set(result.names) == set(robot.base.names):
        robot = robot.with_load(np.array([result[name] for name in robot.base.names]))
    return robot


def load_for_robot(robot: Robot, path: str | Path) -> tuple[Robot, Array, Result]:
    """
    Return the robot with the friction of a result file, its (b,) values, and the result.

    :param path: of a result, a URDF, SDF or MJCF of the robot, or `urdf` for its own.
    """
    result = load_result_or_model(robot, path)
    try:
        robot = robot_for(robot, result)
        return robot, parameters_for(robot, result), result
    except DataError as error:
        raise DataError(f'{path}: {error}') from error


def parameters_for(robot: Robot, result: Result) -> Array:
    """Return (b,) the values of a result in the order of the robot's parameters, by name."""
    known = tuple(robot.base.names)
    missing = [name for name in known if name not in result.names]
    foreign = [name for name in result.names if name not in known]
    if missing or foreign:
        what = f"lacks '{missing[0]}'" if missing else f"has '{foreign[0]}' besides"
        raise DataError(
            f"the parameters of '{result.robot}' ({len(result.names)}) do not fit robot "
            f"'{robot.name}' ({len(known)}): the file {what}",
            key=(missing or foreign)[0],
        )
    chi = np.array([result[name] for name in known])
    if not np.all(np.isfinite(chi)):
        bad = known[int(np.flatnonzero(~np.isfinite(chi))[0])]
        raise DataError(f"parameter '{bad}' is not a finite number", key=bad)
    return chi
