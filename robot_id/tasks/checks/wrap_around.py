"""Encoder wrap-around: whole turns that the joint did not make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.data.cleaning.unwrapping import TURN, unwrap
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Interval
from robot_id.tasks.checks.intervals import of_flags, of_times


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find jumps of a whole turn, and unwrap them for what follows."""
    counts = dict.fromkeys(case.names, 0)
    places: dict[str, list[Interval]] = {name: [] for name in case.names}
    for repair in case.dataset.repairs:
        if repair.kind == 'wrap_around' and repair.joint in counts:
            counts[repair.joint] += repair.count
            places[repair.joint] += of_times(case.dataset.runs, repair.times)
    runs, turning = [], ~case.robot.prismatic
    for k, run in enumerate(case.dataset.runs):
        position, found = unwrap(run.position, turning)
        turns = np.round((position - run.position) / TURN)
        for name, count, own in zip(case.names, found, turns.T):
            counts[name] += count
            places[name] += of_flags(k, run, np.append(False, np.diff(own) != 0.0))
        runs.append(run if position is run.position else replace(run, position=position))
    findings = [
        _finding(name, count, tuple(places[name])) for name, count in counts.items() if count
    ]
    if not findings:
        return [], case
    return findings, Case(case.robot, replace(case.dataset, runs=tuple(runs)))


def _finding(name: str, count: int, places: tuple[Interval, ...]) -> Finding:
    return Finding(
        'wrap_around',
        name,
        0.99,
        f'the position jumps by a whole turn ({2 * np.pi:.4g} rad) {count} time(s) within one '
        'sample: the encoder wraps around; it is unwrapped wherever it is read',
        'nothing to change; set the zero of the encoder away from the motion',
        intervals=places,
    )
