"""The search for the one change that explains a recording better than it stands."""

from __future__ import annotations

import numpy as np

from robot_id.experiment.check import registry
from robot_id.experiment.check.case import Case, Proposal
from robot_id.experiment.check.models import Explanation

# A recording that the inertias of the robot file explain so well has its structure right.
EXPLAINED = 0.1
# And nearly as well as the free model does, or to so little.
AS_GOOD, SMALL = 1.5, 0.03
# What a model of the right structure leaves of most joints, and what a delay gains of each.
LITTLE, EACH = 0.12, 0.12
# So many proposals of the screening are judged by both models.
FINALISTS = 8
# Of two that gain nearly the same the likelier mistake is believed, the one that needs less.
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
    Tell whether a change that is searched for does more than bend to what is not modelled.

    A spring or a counterbalance makes room for another gravity, and for a delay: these are
    believed where they halve the error of a joint, a delay also where it helps every joint or
    little is left.
    """
    if found.code not in ('gravity_direction', 'torque_delay') or found.after is None:
        return True
    if found.after.decisive(case.models.nominal):
        return True
    left = found.after.free[found.after.moving]
    helps = float(np.median(left)) < LITTLE or found.gain > EACH * len(left)
    return found.code == 'torque_delay' and helps


def structure_is_right(case: Case) -> bool:
    """Tell whether the inertias of the robot file already explain every joint."""
    return explains(case.models.nominal)


def explains(found: Explanation) -> bool:
    """Tell whether the inertias of the robot file explain every joint, nearly as free ones do."""
    if found.prior is None:
        return False
    as_good = np.maximum(AS_GOOD * found.free, SMALL)
    return bool(np.all(found.prior < np.minimum(as_good, EXPLAINED)))
