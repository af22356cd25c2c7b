"""Joints that do not move: nothing of their own can be identified."""

from __future__ import annotations

import numpy as np

from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find joints whose filtered speed never leaves the level of noise."""
    findings = []
    for j in np.flatnonzero(~case.signals.moving):
        reach = float(np.ptp(case.signals.q[:, j]))
        findings.append(
            Finding(
                'rest',
                case.names[j],
                0.97,
                f'it moves by {reach:.2g} {"m" if case.robot.prismatic[j] else "rad"} at most '
                f'{float(np.abs(case.signals.dq[:, j]).max()):.2g} per s: the joint rests, and '
                'its rotor inertia and friction cannot be found',
                f"move it, or put '{case.names[j]}' under 'locked' of the robot file with its "
                f'position {float(np.median(case.signals.q[:, j])):.4g}',
            )
        )
    return findings, case
