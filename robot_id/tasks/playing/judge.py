"""Whether the next speed may follow, from what was recorded at this one."""

from __future__ import annotations

from dataclasses import dataclass

from robot_id.exceptions import RobotIdError
from robot_id.robot import Robot
from robot_id.tasks.checks.gate import detect, is_fatal
from robot_id.tasks.measurements import load_for


@dataclass(frozen=True)
class Judgement:
    """
    The check of one recording.

    :param findings: one line each.
    :param reason: why the next speed must not follow, '' where it may.
    """

    findings: tuple[str, ...]
    reason: str


def judge(robot: Robot, data: str, mapping: str = '') -> Judgement:
    """
    Check a recording: what is certainly wrong with its set-up stops the ladder of speeds.

    :param data: the recording.
    :param mapping: of the driver, '' for none.
    """
    try:
        findings, _ = detect(robot, load_for(robot, [data], mapping or None))
    except RobotIdError as error:
        return Judgement((), f'the recording cannot be used: {error}')
    lines = tuple(finding.line() for finding in findings)
    fatal = [finding.line() for finding in findings if is_fatal(finding)]
    return Judgement(lines, fatal[0] if fatal else '')
