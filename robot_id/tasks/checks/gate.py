"""The check as a gate before a fit: its findings, and their effect on the verdict."""

from __future__ import annotations

from robot_id.data.dataset import Dataset
from robot_id.exceptions import RobotIdError, TimeLimitError
from robot_id.progress import Progress, silent
from robot_id.robot import Robot
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.checking import check_case
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.verdict.verdict import Remark

# How sure a finding must be to forbid the use of a fit.
CERTAIN = 0.9
# With one of these the parameters are those of another robot.
FATAL = (
    'gear_ratio', 'gravity_direction', 'joint_offset', 'joint_swap', 'kinematics',
    'position_sign', 'position_unit', 'time_unit', 'torque_sign', 'torque_unit', 'unexplained',
    'unsigned_torque',
)  # fmt: skip


def detect(
    robot: Robot, dataset: Dataset, progress: Progress = silent
) -> tuple[tuple[Finding, ...], Case]:
    """
    Return the findings of the check, none for a recording that it cannot judge, and its case.

    What the check has computed stays with the case, for the verdict on a fit.
    """
    case = Case(robot, dataset.select(robot.joint_names))
    try:
        return tuple(check_case(case, progress)), case
    except TimeLimitError:
        raise
    except RobotIdError:
        return (), case


def is_fatal(finding: Finding) -> bool:
    """Whether a finding says for sure that the parameters are those of another robot."""
    return finding.code in FATAL and finding.certainty >= CERTAIN


def remarks(findings: tuple[Finding, ...]) -> list[Remark]:
    """Return the effect of the findings on the verdict on a fit of the same data."""
    return [
        Remark(
            'do_not_use' if is_fatal(finding) else 'caution',
            f'check: {finding.line()}',
        )
        for finding in findings
    ]
