"""Torques without gravity: a driver that takes the weight of the arm out of its efforts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_id.tasks.checks.case import Case, Proposal, certainty, improvement, proposal
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis

THRESHOLD = 1.0


def propose(case: Case) -> Iterator[Proposal]:
    """Try a robot without weight, where gravity loads a joint at all."""
    if not np.any(case.robot.gravity):
        return

    def finding(found: Proposal) -> Finding:
        return Finding(
            'gravity_removed',
            None,
            certainty(found.gain, found.threshold),
            f'the torques hold no gravity: without it the {improvement(case, found)}; the driver '
            'has taken the weight of the arm out',
            'the channel with gravity (see doc/how_to/what_effort_is.md), or gravity: [0, 0, 0] '
            'in the robot file for inertias and friction alone',
            Remedy(gravity=(0.0, 0.0, 0.0)),
        )

    hypothesis = Hypothesis(gravity=(0.0, 0.0, 0.0))
    yield proposal(case, 'gravity_removed', hypothesis, finding, THRESHOLD)
