"""Torques that no motion of this robot explains: another channel, another robot, or noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.tasks.checks.case import Case, percent
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.models import Explanation

# Unexplained share of a torque although every parameter was free: half of its power. A spring or
# sticking friction that is in no model leaves less.
MOST = 0.71
# A single joint counts where it carries this share of all torque.
SHARE = 0.05
# What files or halves of a recording leave by themselves, of what is left of all together, where
# something changed between them.
APART = 0.5
# Equations of a part for each parameter: fewer would explain anything.
ENOUGH = 4


def detect(case: Case, explanation: Explanation) -> list[Finding]:
    """
    Find torques of which even the free model leaves most.

    :param explanation: of the hypothesis that won, or of the recording as it is.
    """
    left, moving = explanation.free, case.signals.moving
    if not moving.any():
        return []
    if float(np.median(left[moving])) > MOST:
        return [_finding(None, 'the torques', percent(left[moving]), float(left[moving].min()))]
    size = case.signals.tau.std(axis=0)
    large = size > SHARE * np.linalg.norm(size)
    return [
        _finding(case.names[j], 'its torque', percent(left[j : j + 1]), float(left[j]))
        for j in np.flatnonzero(moving & large & (left > MOST))
    ]


def changed(case: Case) -> bool:
    """
    Whether the files, or both halves of one file, are explained by themselves but not together.

    Then torques and robot are right, and something changed in between, such as a load.
    """
    s = case.signals
    samples = np.arange(len(s.q))
    parts = [(samples >= low) & (samples < high) for low, high in s.pieces]
    if len(parts) == 1:
        parts = [samples < len(s.q) // 2, samples >= len(s.q) // 2]
    alone = [replace(s, active=s.active & part[:, None]) for part in parts]
    free = case.models.free
    if min(int(each.valid_equations.sum()) for each in alone) < ENOUGH * len(free.columns):
        return False
    left = [free.residuals(each)[0] for each in alone]
    together = case.models.nominal.free[s.moving]
    worst = np.max(left, axis=0)[s.moving]
    return float(np.median(worst / together)) < APART


def _finding(joint: str | None, what: str, share: str, least: float) -> Finding:
    return Finding(
        'unexplained',
        joint,
        float(np.clip(0.5 + 0.6 * least, 0.7, 0.99)),
        f'{share} of {what} stays unexplained although every inertia, friction and offset is '
        'free: this is not the torque that moved the robot, or it is not this robot',
        'torque.columns in the mapping (another channel?), or the robot file of this robot',
    )
