"""The unit of positions where no torque tells: the one that puts the motion within the limits."""

from __future__ import annotations

import numpy as np

from robot_id.tasks.checks import mapped_units
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Remedy

# A joint that leaves its limits by more than their span moves in another unit, not a little far.
BEYOND = 1.0
# Share of the span by which the limits of a robot file and those of a robot may differ.
SLACK = 0.25
CERTAINTY = 0.95


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find positions far outside of the limits, which another unit puts within them."""
    limits, findings = case.robot.limits, []
    smallest = np.min([run.position.min(axis=0) for run in case.dataset.runs], axis=0)
    largest = np.max([run.position.max(axis=0) for run in case.dataset.runs], axis=0)
    span = limits.upper - limits.lower
    for slides, si in ((False, 'rad'), (True, 'm')):
        joints = (case.robot.prismatic == slides) & np.isfinite(span) & (span > 0.0)
        low, high, width = limits.lower[joints], limits.upper[joints], span[joints]
        beyond = np.maximum(low - smallest[joints], largest[joints] - high) / width
        if not np.any(beyond > BEYOND):
            continue
        sizes = mapped_units.others(case.dataset, 'position', si)
        for unit, size in sorted(sizes.items(), key=lambda item: item[1]):
            within = (smallest[joints] / size >= low - SLACK * width) & (
                largest[joints] / size <= high + SLACK * width
            )
            if size > 1.0 and within.all():
                findings.append(_finding(case, slides, unit, size, int(np.argmax(beyond)), joints))
                break
    return findings, case


def _finding(
    case: Case, slides: bool, unit: str, size: float, worst: int, joints: np.ndarray
) -> Finding:
    j = int(np.flatnonzero(joints)[worst])
    q = np.concatenate([run.position[:, j] for run in case.dataset.runs])
    low, high = case.robot.limits.lower[j], case.robot.limits.upper[j]
    scales = np.where(case.robot.prismatic == slides, 1.0 / size, 1.0)
    return Finding(
        'position_unit',
        None,
        CERTAINTY,
        f"joint '{case.names[j]}' moves from {q.min():.4g} to {q.max():.4g}, its limits are "
        f'{low:.4g} to {high:.4g}; taken as {unit} all joints stay within theirs',
        f'position.unit: {unit} in the mapping, and of reference_position',
        Remedy(position_scale=tuple(float(s) for s in scales)),
    )
