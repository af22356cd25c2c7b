"""Wrong lengths in the robot file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.hypothesis import Hypothesis

THRESHOLD = 1.0
COARSE = (0.6, 0.75, 0.88, 1.13, 1.3, 1.6)
FINE = (0.08, 0.04, 0.02)
# Smaller differences are calibration errors.
SMALLEST = 0.1
# The free model must gain this much too, or the prior model must become as good as it.
FREE_GAIN, AS_GOOD = 0.3, 1.25
# Masses that are a little off leave less of the torques than this.
ROUGHLY = 0.1


def propose(case: Case) -> Iterator[Proposal]:
    """Try longer and shorter: all distances between joints, and those before each joint."""
    k = case.robot.kinematics
    nb = len(k.parent)
    matters = (np.linalg.norm(k.translation, axis=1) > 1e-6) & (k.parent >= 0)
    bodies = [int(i) for i in np.flatnonzero(matters)]
    if not bodies:
        return
    for body in (None, *bodies) if len(bodies) > 1 else (bodies[0],):
        best = max((_at(case, nb, body, f) for f in COARSE), key=lambda each: each.screened)
        if best.screened < 0.3 * THRESHOLD:
            continue
        for step in FINE:
            factor = _factor(best, body)
            tried = [_at(case, nb, body, factor + d) for d in (step, -step)]
            best = max(best, *tried, key=lambda each: each.screened)
        if abs(np.log(_factor(best, body))) > SMALLEST and _believed(case, best):
            yield best


def _believed(case: Case, best: Proposal) -> bool:
    """Distinguish a wrong length from inertias of the robot file that are only roughly right."""
    nominal, after = case.models.nominal, case.models.explain(best.hypothesis)
    if np.log(nominal.free / after.free).sum() > FREE_GAIN:
        return True
    if after.prior is None or nominal.prior is None or nominal.prior.max() < ROUGHLY:
        return False
    return bool(np.all(after.prior < np.maximum(AS_GOOD * after.free, 0.01)))


def _factor(found: Proposal, body: int | None) -> float:
    lengths = found.hypothesis.lengths
    assert lengths is not None
    return lengths[-1 if body is None else body]


def _at(case: Case, nb: int, body: int | None, factor: float) -> Proposal:
    lengths = tuple(factor if body in (None, i) else 1.0 for i in range(nb))
    make = _finding(case, body, factor)
    return proposal(case, 'kinematics', Hypothesis(lengths=lengths), make, THRESHOLD)


def _finding(case: Case, body: int | None, factor: float):  # type: ignore[no-untyped-def]
    k = case.robot.kinematics

    def make(found: Proposal) -> Finding:
        joint = None if body is None else case.names[int(k.dof[body])]
        whose = 'all distances between joints' if body is None else 'the distance before it'
        file = case.robot.urdf.name if case.robot.urdf else 'the robot file'
        return Finding(
            'kinematics',
            joint,
            certainty(found.gain, found.threshold),
            f'the lengths of {file} are not those of this robot: with {whose} {factor:.3g} times '
            f'as large the {improvement(case, found)}',
            f'correct the origins of the joints in {file}, or use the file of this robot',
        )

    return make
