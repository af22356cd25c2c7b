"""The search for the one change that explains a recording better."""

from __future__ import annotations

import numpy as np

from robot_id.tasks.checks import registry, torque_delay
from robot_id.tasks.checks.case import Case, Proposal
from robot_id.tasks.checks.models import Explanation
from robot_id.tasks.checks.trial import CLEAR, helps

# A recording that the inertias of the robot file explain this well has the right structure.
EXPLAINED = 0.1
# And nearly as well as the free model does, or with this small a residual.
AS_GOOD, SMALL = 1.5, 0.03
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

    It must help on data that it was not fitted to. Friction that lags behind the motion looks
    like a delay, near the reversals alone: a delay must help far from them too, and be gone when
    it is corrected.
    """
    assert found.after is not None
    if not helps(case.models.nominal, found.after, found.joints):
        return False
    if found.code != 'torque_delay':
        return True
    left = found.after.free[found.after.moving]
    return (
        float(np.median(left)) < NOISE
        and torque_delay.far_from_reversals(case, found.hypothesis.delay) > CLEAR
        and torque_delay.is_gone(case, found.hypothesis.delay)
    )


def structure_is_right(case: Case) -> bool:
    """Return whether the inertias of the robot file already explain every joint."""
    return explains(case.models.nominal)


def explains(found: Explanation) -> bool:
    """Return whether the given inertias explain all joints nearly as well as free ones."""
    if found.prior is None:
        return False
    as_good = np.maximum(AS_GOOD * found.free, SMALL)
    return bool(np.all(found.prior < np.minimum(as_good, EXPLAINED)))
