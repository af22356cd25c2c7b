"""The search for the one change that explains a recording better."""

from __future__ import annotations

import numpy as np

from robot_id.experiment.check import registry, torque_delay
from robot_id.experiment.check.case import Case, Proposal
from robot_id.experiment.check.models import Explanation

# A recording that the inertias of the robot file explain this well has the right structure.
EXPLAINED = 0.1
# And nearly as well as the free model does, or with this small a residual.
AS_GOOD, SMALL = 1.5, 0.03
# What a model of the right structure leaves of most joints, and what a delay gains of each.
LITTLE, EACH = 0.12, 0.12
# Torques of which this share is unexplained after a shift in time are no late torques.
NOISE = 0.6
# Number of proposals of the screening that both models judge.
FINALISTS = 8
# Of two with nearly the same gain, the more likely mistake is chosen.
NEAR = 0.1


def best_proposal(case: Case) -> Proposal | None:
    """Return the change that gains most beyond its threshold, None where none does."""
    proposals = [p for propose in registry.ALWAYS for p in propose(case)]
    if not structure_is_right(case):
        proposals += [p for propose in registry.STRUCTURE for p in propose(case)]
    proposals.sort(key=lambda p: -p.screened)
    judged = [p.judged(case.models) for p in proposals[:FINALISTS]]
    good = [p for p in judged if p.gain > p.threshold and _believed(case, p)]
    return max(good, key=lambda p: p.gain - NEAR * p.threshold, default=None)


def _believed(case: Case, found: Proposal) -> bool:
    """
    Return whether a change does more than absorb unmodelled effects.

    A spring or a counterbalance can look like another gravity or a delay: these count if they
    halve the error of a joint, a delay also if it helps every joint or leaves little error, and
    only if it is gone after a correction.
    """
    if found.code not in ('gravity_direction', 'torque_delay') or found.after is None:
        return True
    left = found.after.free[found.after.moving]
    if found.code == 'torque_delay' and (
        float(np.median(left)) > NOISE or not torque_delay.is_gone(case, found.hypothesis.delay)
    ):
        return False
    if found.after.decisive(case.models.nominal):
        return True
    helps = float(np.median(left)) < LITTLE or found.gain > EACH * len(left)
    return found.code == 'torque_delay' and helps


def structure_is_right(case: Case) -> bool:
    """Return whether the inertias of the robot file already explain every joint."""
    return explains(case.models.nominal)


def explains(found: Explanation) -> bool:
    """Return whether the given inertias explain all joints nearly as well as free ones."""
    if found.prior is None:
        return False
    as_good = np.maximum(AS_GOOD * found.free, SMALL)
    return bool(np.all(found.prior < np.minimum(as_good, EXPLAINED)))
