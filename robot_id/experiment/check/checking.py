"""The check: all detectors on one recording."""

from __future__ import annotations

from robot_id.data.dataset import Dataset
from robot_id.experiment.check import excitation, registry, search, torque_scale
from robot_id.experiment.check.case import Case
from robot_id.experiment.check.finding import Finding, Findings
from robot_id.model import Robot
from robot_id.progress import Progress, silent


def check(robot: Robot, dataset: Dataset, progress: Progress = silent) -> Findings:
    """
    Return what is wrong with a recording, or with the robot file it is read with.

    First what the channels alone tell (wrap-around, clock, saturation, rest), then whether the
    motion says enough, then the one change that explains the torques better than they
    stand, if there is one, then their size.

    :param dataset: columns of the robot's joints, in any order.
    """
    case = Case(robot, dataset.select(robot.joint_names))
    findings: list[Finding] = []
    for look in registry.CHANNELS:
        found, case = look(case)
        findings += found
    progress(0.2, 'checking')
    if not any(finding.code == 'rest' for finding in findings):
        poor = excitation.look(case)
        if poor:
            # What such a motion explains or not says nothing about the rest.
            return Findings((*findings, *poor), dataset.source)
    if search.structure_is_right(case):
        sizes = torque_scale.look(case, case.models.nominal)
        if sizes:
            return Findings((*findings, *sizes), dataset.source)
    best = search.best_proposal(case)
    explanation = case.models.nominal
    if best is not None and best.after is not None:
        findings.append(best.finding(best))
        explanation = best.after
    if best is None or best.code in ('joint_swap', 'joint_offset', 'gravity_direction'):
        findings += torque_scale.look(case, explanation)
    progress(1.0, 'checked')
    return Findings(tuple(findings), dataset.source)
