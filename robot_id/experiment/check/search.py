"""The search for the one change that explains a recording better than it stands."""

from __future__ import annotations

import numpy as np

from robot_id.experiment.check import registry
from robot_id.experiment.check.case import Case, Proposal

# A recording that the inertias of the robot file explain so well has its structure right.
EXPLAINED = 0.1
# And nearly as well as the free model does, or to so little.
AS_GOOD, SMALL = 1.5, 0.03
# So many proposals of the screening are judged by both models.
FINALISTS = 8
# Changes that gain so much of the best one explain the recording as well.
ALIKE = 0.9


def best_proposal(case: Case) -> Proposal | None:
    """Return the change that gains most beyond its threshold, None where none does."""
    proposals = [p for propose in registry.ALWAYS for p in propose(case)]
    if not structure_is_right(case):
        proposals += [p for propose in registry.STRUCTURE for p in propose(case)]
    proposals.sort(key=lambda p: -p.screened)
    judged = [p.judged(case.models) for p in proposals[:FINALISTS]]
    good = [p for p in judged if p.gain > p.threshold]
    best = max(good, key=lambda p: p.gain, default=None)
    if best is None or best.code != 'gravity_direction' or case.robot.gravity[2] == -9.81:
        return best
    # Another zero of the first joint is the same as another mount. Who wrote the mount into the
    # robot file has seen to it, so it is the zero then.
    offsets = [p for p in good if p.code == 'joint_offset' and p.gain > ALIKE * best.gain]
    return max(offsets, key=lambda p: p.gain, default=best)


def structure_is_right(case: Case) -> bool:
    """Tell whether the inertias of the robot file already explain every joint."""
    nominal = case.models.nominal
    if nominal.prior is None:
        return False
    as_good = np.maximum(AS_GOOD * nominal.free, SMALL)
    return bool(np.all(nominal.prior < np.minimum(as_good, EXPLAINED)))
