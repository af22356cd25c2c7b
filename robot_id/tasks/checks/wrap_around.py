"""Encoder wrap-around: whole turns that the joint did not make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.data.cleaning.unwrapping import unwrap
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find jumps of a whole turn, and unwrap them for what follows."""
    counts = dict.fromkeys(case.names, 0)
    for repair in case.dataset.repairs:
        if repair.kind == 'wrap_around' and repair.joint in counts:
            counts[repair.joint] += repair.count
    runs, turning = [], ~case.robot.prismatic
    for run in case.dataset.runs:
        position, found = unwrap(run.position, turning)
        for name, count in zip(case.names, found):
            counts[name] += count
        runs.append(run if position is run.position else replace(run, position=position))
    findings = [_finding(name, count) for name, count in counts.items() if count]
    if not findings:
        return [], case
    return findings, Case(case.robot, replace(case.dataset, runs=tuple(runs)))


def _finding(name: str, count: int) -> Finding:
    return Finding(
        'wrap_around',
        name,
        0.99,
        f'the position jumps by a whole turn ({2 * np.pi:.4g} rad) {count} time(s) within one '
        'sample: the encoder wraps around; it is unwrapped wherever it is read',
        'nothing to change; set the zero of the encoder away from the motion',
    )
