"""Clipped torques: the model would have to explain torques that were not applied or recorded."""

from __future__ import annotations

from robot_id.data.cleaning.clipping import clipped
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Interval
from robot_id.tasks.checks.intervals import of_flags


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find limits that the torque of a moving joint reaches again and again."""
    samples = dict.fromkeys(range(case.robot.n), 0)
    limits: dict[int, float] = {}
    places: dict[int, list[Interval]] = {}
    for k, run in enumerate(case.dataset.runs):
        limits_of_run, flags = clipped(run)
        for found in limits_of_run:
            samples[found.joint] += found.samples
            limits[found.joint] = max(abs(found.value), limits.get(found.joint, 0.0))
        for j in {found.joint for found in limits_of_run}:
            places.setdefault(j, []).extend(of_flags(k, run, flags[:, j]))
    total = len(case.dataset)
    findings = [
        Finding(
            'saturation',
            case.names[j],
            0.95,
            f'{samples[j]} samples ({100 * samples[j] / total:.2g} %) lie exactly at the limit '
            f'of {limit:.4g} N.m or N: the drive or the sensor was saturated, and what was '
            'recorded there is not what moved the joint; this check leaves them out, `identify` '
            'does not',
            'record a slower motion, or a larger range of the sensor; or take the rows between '
            "them alone ('rows' in the mapping)",
            intervals=tuple(places[j]),
        )
        for j, limit in sorted(limits.items())
        if case.signals.moving[j]
    ]
    return findings, case
