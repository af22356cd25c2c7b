"""The check as a gate before a fit: its findings, and their effect on the verdict."""

from __future__ import annotations

from robot_id.data import Dataset
from robot_id.exceptions import RobotIdError, TimeLimitError
from robot_id.progress import Progress, silent
from robot_id.robot import Robot
from robot_id.tasks.checks import check
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


def detect(robot: Robot, dataset: Dataset, progress: Progress = silent) -> tuple[Finding, ...]:
    """Return the findings of the check; none for a recording that it cannot judge."""
    try:
        return tuple(check(robot, dataset, progress))
    except TimeLimitError:
        raise
    except RobotIdError:
        return ()


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
