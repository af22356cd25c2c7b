"""The check: all detectors on one recording."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.progress import Progress, silent
from robot_id.robot import Robot
from robot_id.tasks.checks import (
    excitation,
    registry,
    reversed_torques,
    search,
    torque_delay,
    torque_scale,
    unexplained,
    unsigned_torque,
)
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Findings

# Gain that a change needs on a poor motion without inertias to compare with.
CERTAIN = 3.0


@one_blas_thread()
def check(robot: Robot, dataset: Dataset, progress: Progress = silent) -> Findings:
    """
    Return what is wrong with a recording, or with the robot file it is read with.

    First what the channels alone show (wrap-around, clock, saturation, rest), then whether the
    motion is rich enough, then the one change that explains the torques better, if there is one,
    then their size, whether anything explains them at all, and whether they are a little late.

    :param dataset: columns of the robot's joints, in any order.
    """
    return check_case(Case(robot, dataset.select(robot.joint_names)), progress)


def check_case(case: Case, progress: Progress = silent) -> Findings:
    """Return what is wrong with a recording; what was computed for it stays with the case."""
    source, has_torque = case.dataset.source, case.dataset.has_torque
    case = case if has_torque else Case(case.robot, _with_zeros(case.dataset))
    findings: list[Finding] = []
    for detect in registry.CHANNELS if has_torque else registry.WITHOUT_TORQUE:
        found, case = detect(case)
        findings += found
    progress(0.2, 'checking')
    poor: list[Finding] = []
    if not any(finding.code == 'rest' for finding in findings):
        poor = excitation.detect(case) if has_torque else []
    if has_torque:
        findings += _by_the_torques(case, poor)
    progress(1.0, 'checked')
    return Findings(tuple(findings), source)


def _with_zeros(dataset: Dataset) -> Dataset:
    """Return the recording with zeros for torques that were not recorded; nothing judges them."""
    if dataset.has_torque:
        return dataset
    runs = tuple(replace(run, torque=np.zeros_like(run.position)) for run in dataset.runs)
    return replace(dataset, runs=runs)


def _by_the_torques(case: Case, poor: list[Finding]) -> list[Finding]:
    """
    Return the findings from the torques.

    :param poor: the finding of a poor motion, if any: then a change counts only if the motion is
        rich after it, if the inertias of the robot file explain everything, or if it gains much.
    """
    unsigned = unsigned_torque.detect(case, case.models.nominal)
    if unsigned:
        return unsigned
    if search.structure_is_right(case):
        sizes = torque_scale.detect(case, case.models.nominal)
        if sizes:
            return sizes
    best = search.best_proposal(case)
    if best is None or best.after is None:
        if poor:
            return poor
        nominal = case.models.nominal
        odd = unsigned_torque.single(case, nominal)
        sizes = [] if odd else torque_scale.detect(case, nominal)
        odd = odd or unexplained.detect(case, nominal)
        found = sizes if odd and unexplained.changed(case) else sizes + odd
        return found or reversed_torques.detect(case) or torque_delay.detect(case)
    certain = search.explains(best.after) or (best.after.prior is None and best.gain > CERTAIN)
    if poor and not certain and excitation.detect(case, best.hypothesis):
        return poor
    findings = [best.finding(best)]
    unsigned = unsigned_torque.single(case, best.after)
    if unsigned:
        blamed = {each.joint for each in unsigned}
        others = bool({case.names[j] for j in best.joints} - blamed)
        return [*findings, *unsigned] if others or not best.joints else unsigned
    if best.code in ('joint_swap', 'joint_offset', 'gravity_direction'):
        findings += torque_scale.detect(case, best.after)
    return findings + unexplained.detect(case, best.after)
