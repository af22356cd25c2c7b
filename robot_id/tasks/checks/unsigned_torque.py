"""Torques without sign: the magnitude of a current."""

from __future__ import annotations

import numpy as np

from robot_id.tasks.checks.case import Case, percent
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.models import Explanation

# Samples of the other sign (share of all) and their size (share of the largest) are noise.
OTHER, NOISE = 1e-3, 0.02
# Unexplained share of torques that are no signed ones: gravity can keep a torque on one side too.
LEFT = 0.25


def detect(case: Case, explanation: Explanation) -> list[Finding]:
    """
    Find torques that all stay on one side of zero and are not explained.

    Gravity may keep the torque of a joint on one side, seldom those of all; it is explained then.
    """
    tau = np.concatenate([run.torque for run in case.dataset.runs])[:, case.signals.moving]
    left = explanation.free[case.signals.moving]
    if not left.size or float(np.median(left)) < LEFT:
        return []
    size = np.abs(tau).max(axis=0)
    shares = [(sign * tau > NOISE * size).mean(axis=0) for sign in (1.0, -1.0)]
    if min(share.max() for share in shares) > OTHER:
        return []
    return [
        Finding(
            'unsigned_torque',
            None,
            0.97,
            f'no torque ever changes its sign, and {percent(left)} of them stays unexplained: the '
            'magnitude of a current or torque was recorded, without its direction',
            'torque.columns in the mapping: the signed channel (q-axis current, effort) in place '
            'of the magnitude; the sign cannot be restored afterwards',
        )
    ]
