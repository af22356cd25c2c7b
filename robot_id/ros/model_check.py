"""Whether a controller may take the model that a request asks for; runs beside the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.computed_torque import BLEND_S
from robot_id.control.runtime.guards import check_model
from robot_id.control.runtime.model_bounds import IDENTIFIED, Other, blend_rate, nominal_model
from robot_id.control.runtime.payload import load_of_change
from robot_id.exceptions import OptionError, shorten
from robot_id.robot import Robot, payload_parameters
from robot_id.ros.data_directory import LONGEST
from robot_id.ros.durations import to_seconds
from robot_id.ros.model_request import Wanted, check_verdict, requested
from robot_id.ros.payload_message import payload_of
from robot_id_msgs.msg import Verdict
from robot_id_msgs.srv import SetPayload

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """
    What holds for every check.

    :param data_directory: of result files.
    :param physical: refuse what no physically consistent robot has.
    :param smallest_inertia: least eigenvalue of a new M_hat against the present one.
    :param kp: (n,) of the loop, 1/s^2.
    """

    robot: Robot
    data_directory: str
    physical: bool
    smallest_inertia: float
    kp: Array


@dataclass(frozen=True)
class Question:
    """
    A request, and the model that it would replace.

    :param request: of SetDynamicParameters or SetPayload; None asks whether the child is ready.
    :param current: (b,) the model in use, its load included.
    :param load: (b,) what the load that was set adds to it.
    :param identified: whether it comes from measurements, not from a file about the robot.
    """

    request: Any
    current: Array
    load: Array
    identified: bool


@dataclass(frozen=True)
class Checked:
    """
    A model that may be used.

    :param wanted: the values, and what is known of them.
    :param consistent: whether the parameters are physically consistent: M(q) > 0 in every posture.
    :param load: (b,) what its load adds; standard (10,) the part that a load on the last link
        explains.
    :param rate: (n,) how fast the torque may move there, N.m/s or N/s.
    """

    wanted: Wanted
    consistent: bool
    load: Array
    standard: Array
    rate: Array


@dataclass(frozen=True)
class Refused:
    """
    Why not.

    :param code: of robot_id_msgs/ErrorCode.
    """

    code: int
    text: str


def check(setting: Setting, question: Question) -> Checked:
    """
    Return the model of a request.

    :raises RobotIdError: with the reason why a controller must not use it.
    """
    request = question.request
    _check_words(request)
    if isinstance(request, SetPayload.Request):
        return _payload(setting, question)
    wanted = requested(setting.robot, request, question.current, setting.data_directory)
    check_verdict(wanted.verdict, request.accept_caution)
    consistent = check_model(
        setting.robot, wanted.values, question.current, setting.smallest_inertia,
        setting.physical, _others(setting.robot, question), bool(request.forced_by),
    )  # fmt: skip
    standard = load_of_change(setting.robot, question.load)
    rate = blend_rate(setting.robot, wanted.values, setting.kp)
    return Checked(wanted, consistent, question.load, standard, rate)


def _payload(setting: Setting, question: Question) -> Checked:
    robot, request = setting.robot, question.request
    payload, joint = payload_of(robot, request.inertia, request.link)
    load = np.zeros_like(question.current)
    if payload is not None:
        load = payload_parameters(robot, payload, joint)
    chi = question.current - question.load + load
    # What a load adds is known by its mass: it may be many times the inertia of a wrist.
    consistent = check_model(
        robot, chi, question.current, setting.smallest_inertia, setting.physical,
        forced=bool(request.forced_by),
    )  # fmt: skip
    rate = blend_rate(robot, chi, setting.kp)
    return Checked(Wanted(chi, '', Verdict()), consistent, load, load_of_change(robot, load), rate)


def _others(robot: Robot, question: Question) -> list[Other]:
    """Return the models that a new one must not be far from."""
    others = []
    nominal = nominal_model(robot)
    if nominal is not None:
        values = nominal.parameters + question.load
        others.append(Other(values, nominal.name, nominal.factors))
    if question.identified:
        others.append(Other(question.current, 'the model in use', IDENTIFIED))
    return others


def _check_words(request: Any) -> None:
    """Refuse words and numbers of a request that make no sense."""
    if request.when not in (request.NOW, request.AT_REST):
        raise OptionError(f'when: {request.when} is neither NOW (0) nor AT_REST (1)', key='when')
    BLEND_S.check(to_seconds(request.blend), 'blend')
    for key in ('forced_by', 'force_reason'):
        text = getattr(request, key)
        if len(text) > LONGEST:
            raise OptionError(f'{key}: {shorten(text)} is too long for a request', key=key)
    if bool(request.forced_by.strip()) != bool(request.force_reason.strip()):
        raise OptionError('forced_by and force_reason go together: who forces it, and why')
