"""The size of the torques against the inertias of the robot file: units and gear ratios."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.checks import mapped_units, torque_density
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis, only
from robot_id.tasks.checks.models import Explanation

Array = NDArray[np.float64]

# Decades by which URDF inertias may be wrong, and by which a joint may differ from the others.
TOLERANCE, ALONE = 0.55, 0.7
# Inertias that explain this many times less than free ones do are rough, and may be wrong by more.
ROUGH, ROUGH_TOLERANCE = 4.0, 1.3
# Scales known to less than this share are used.
KNOWN = 0.2
# Decades by which the size of a unit may lie outside of the scales of the joints: a factor 1.6.
OUTSIDE = 0.2
# Decades within which torques are shares of the effort limits, all joints alike.
RATED = 0.35
# A torque that is put right must not contradict those of the other joints, by the free model.
CONTRADICTS = -0.15


def detect(case: Case, explanation: Explanation) -> list[Finding]:
    """
    Compare the scales s_j of the prior model with one.

    :param explanation: of the hypothesis that won, or of the recording as it is.
    """
    if explanation.prior is None:
        return torque_density.detect(case, explanation)
    known = (explanation.scale_std < KNOWN * np.abs(explanation.scale)) & (explanation.prior < 0.5)
    if not known.any():
        return torque_density.detect(case, explanation)
    decades = np.log10(np.abs(np.where(known, explanation.scale, 1.0)))
    middle = float(np.median(decades[known]))
    rough = bool(np.median((explanation.prior / explanation.free)[known]) > ROUGH)
    if rough and abs(middle) < ROUGH_TOLERANCE:
        return []
    if abs(middle) < TOLERANCE:
        return _single(case, decades, known)
    return [_all(case, decades, known, middle)]


def _single(case: Case, decades: Array, known: NDArray[np.bool_]) -> list[Finding]:
    """Find one joint whose torque is far from those of the others."""
    found = []
    for j in np.flatnonzero(known & (np.abs(decades) > ALONE)):
        others = np.delete(decades[known], np.flatnonzero(known) == j)
        if not others.size or abs(decades[j] - np.median(others)) < ALONE:
            continue
        factor = 10 ** -decades[j]
        nearest = 10.0 ** round(float(np.log10(factor)))
        scale = only(case.robot.n, int(j), nearest, 1.0)
        if _contradicts(case, scale):
            continue
        found.append(
            Finding(
                'gear_ratio',
                case.names[int(j)],
                0.95,
                f'its torque is {1 / factor:.3g} times what the inertias of the robot file give, '
                f'those of the others {10 ** np.median(others):.3g}: a wrong gear ratio or '
                'drive gain',
                f'torque.scale {nearest:g} for entry {j + 1} in the mapping (times the present '
                'value)',
                Remedy(torque_scale=scale),
            )
        )
    return found


def _contradicts(case: Case, scale: tuple[float, ...]) -> bool:
    """Return whether free inertias explain the torques less well when one of them is scaled."""
    before, after = case.models.nominal, case.models.explain(Hypothesis(torque_scale=scale))
    gain = np.log(before.free / after.free)[before.moving].sum()
    return bool(gain < CONTRADICTS)


def _rated(case: Case, decades: Array, known: NDArray[np.bool_]) -> tuple[float, ...] | None:
    """Return the scales of torques in percent of the effort limits, None where they are not."""
    limit = case.robot.limits.torque
    if not np.all(np.isfinite(limit)) or known.sum() < 2 or np.ptp(limit[known]) == 0.0:
        return None
    apart = (decades - np.log10(100.0 / limit))[known]
    if np.abs(apart).max() > RATED:
        return None
    return tuple(float(each) for each in limit / 100.0)


def _all(case: Case, decades: Array, known: NDArray[np.bool_], middle: float) -> Finding:
    """Name the unit, or the motor side, when all torques are far from the expected ones."""
    low, high = float(decades[known].min()), float(decades[known].max())
    factor = 10**middle
    n = case.robot.n
    text = (
        f'the torques are {factor:.3g} times what the inertias of the robot file give '
        f'(joints from {10**low:.3g} to {10**high:.3g})'
    )
    for unit, size in mapped_units.others(case.dataset, 'torque', 'N.m').items():
        if low - OUTSIDE < np.log10(size) < high + OUTSIDE and high - low < ALONE:
            return Finding(
                'torque_unit',
                None,
                0.97,
                f'{text}: they are in {unit}',
                f'torque.unit: {unit} in the mapping',
                Remedy(torque_scale=(1.0 / size,) * n),
            )
    rated = _rated(case, decades, known)
    if rated is not None:
        return Finding(
            'torque_unit',
            None,
            0.95,
            f'{text}: they are in percent of the rated torques, which are the effort limits',
            f'torque.scale: [{", ".join(f"{s:.4g}" for s in rated)}] in the mapping',
            Remedy(torque_scale=rated),
        )
    if mapped_units.is_signal(case.dataset):
        return Finding(
            'gear_ratio',
            None,
            0.95,
            f'{text}: the drive gain is wrong, or of the motor side, before the gears',
            f'torque.scale in the mapping: the drive gain with the gear ratio in it (about '
            f'{1 / factor:.2g} times the present value)',
        )
    if factor < 1:
        return Finding(
            'gear_ratio',
            None,
            0.95,
            f'{text}: currents in place of torques, or torques of the motor side',
            'torque: {unit: A, scale: drive_gain} in the mapping, with the drive_gain of each '
            'joint in the robot file (joint torque over current, about '
            f'[{", ".join(f"{10**-d:.2g}" for d in np.where(known, decades, middle))}]), or '
            'torque.scale: [gear ratio of each joint] or torque.motor_matrix',
        )
    return Finding(
        'torque_unit',
        None,
        0.9,
        f'{text}: another unit (currents in mA?), or a wrong drive gain',
        f'torque.scale: {1 / factor:.3g} in the mapping (times the present value)',
    )
