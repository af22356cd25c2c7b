"""Torques without sign: the magnitude of a current."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.tasks.checks.case import Case, percent
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.models import Explanation

Flags = NDArray[np.bool_]

# Samples of the other sign, or of none (share of all), and their size (share of the largest).
OTHER, NOISE = 1e-3, 0.02
# Unexplained share of torques that are no signed ones: gravity can keep a torque on one side too.
LEFT = 0.25


def detect(case: Case, explanation: Explanation) -> list[Finding]:
    """
    Find torques that all stay on one side of zero and are not explained.

    Gravity may keep the torque of a joint on one side, seldom those of all; it is explained then.
    """
    moving = case.signals.moving
    left = explanation.free[moving]
    if not left.size or float(np.median(left)) < LEFT or not _sides(case)[0][moving].all():
        return []
    return [_finding(None, 'no torque ever changes its sign', f'{percent(left)} of them stays')]


def single(case: Case, explanation: Explanation) -> list[Finding]:
    """
    Find single torques of this kind: they come back from zero to the side they came from.

    :param explanation: of the hypothesis that won, or of the recording as it is.
    """
    left = explanation.free
    one_sided, touching = _sides(case)
    found = case.signals.moving & one_sided & touching & (left > LEFT) & _changes_sign(case)
    return [
        _finding(
            case.names[j],
            'its torque never changes its sign',
            f'{percent(left[j : j + 1])} of it stays',
        )
        for j in np.flatnonzero(found)
    ]


def _changes_sign(case: Case) -> Flags:
    """(n,) whether the inertias of the robot file give torques of both signs; all without any."""
    s, prior = case.signals, case.models.prior
    if prior is None:
        return np.ones(s.n, bool)
    rigid = dynamics.body_torques(prior.robot, prior.inertia, s.q, s.dq, s.ddq)
    return np.minimum((rigid > 0.0).mean(axis=0), (rigid < 0.0).mean(axis=0)) > OTHER


def _sides(case: Case) -> tuple[Flags, Flags]:
    """(n,) whether the torques of a joint all have one sign, and whether they come near zero."""
    tau = np.concatenate([run.torque for run in case.dataset.runs])
    noise = NOISE * np.abs(tau).max(axis=0)
    above, below = ((sign * tau > noise).mean(axis=0) for sign in (1.0, -1.0))
    return np.minimum(above, below) <= OTHER, 1.0 - above - below > OTHER


def _finding(joint: str | None, seen: str, left: str) -> Finding:
    return Finding(
        'unsigned_torque',
        joint,
        0.97,
        f'{seen}, and {left} unexplained: the magnitude of a current or torque was recorded, '
        'without its direction',
        'torque.columns in the mapping: the signed channel (q-axis current, effort) in place '
        'of the magnitude; the sign cannot be restored afterwards',
    )
