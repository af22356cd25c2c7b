"""Joints that do not move: nothing of their own can be identified."""

from __future__ import annotations

import numpy as np

from robot_id.experiment.check.case import Case
from robot_id.experiment.check.finding import Finding

# A joint whose top speed is below these shares of a usual speed and of the other joints' rests.
SLOWEST = 0.02
SLOWER_THAN_OTHERS = 0.02


def look(case: Case) -> tuple[list[Finding], Case]:
    """Find joints whose filtered speed never leaves the level of noise."""
    findings = []
    for j in resting(case):
        reach = float(np.ptp(case.signals.q[:, j]))
        findings.append(
            Finding(
                'rest',
                case.names[j],
                0.97,
                f'it moves by {reach:.2g} {"m" if case.slides[j] else "rad"} at most '
                f'{float(np.abs(case.signals.dq[:, j]).max()):.2g} per s: the joint rests, and '
                'its rotor inertia and friction cannot be found',
                f"move it, or put '{case.names[j]}' under 'locked' of the robot file with its "
                f'position {float(np.median(case.signals.q[:, j])):.4g}',
            )
        )
    return findings, case


def resting(case: Case) -> list[int]:
    """Return the joints that rest."""
    speed = np.sqrt((case.signals.dq**2).mean(axis=0))
    slow = speed < np.minimum(SLOWEST, SLOWER_THAN_OTHERS * speed.max())
    return [int(j) for j in np.flatnonzero(slow)]
