"""
The velocity channel against the motion: a sampling rate, or a factor of the positions, is wrong.

Over any stretch the change of the position is the integral of the velocity. Where the positions of
all joints are one and the same multiple b of it, time runs 1/b times too slow (a `rate_hz` that is
not the robot's), or all positions are b times too large; the torques say which.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
from numpy.typing import NDArray

from robot_id.data.signals.filters import without_line
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis

Array = NDArray[np.float64]

# Required correlation of the channel with the position, and agreement of the joints.
ALIKE, AGREED = 0.98, 1.04
# Joints, of those that move, whose channel must be like that.
SHARE = 0.6
# Samples of a run that count.
FEWEST = 50
# Less than this is a filter, a held sample or a clock that drifts.
SMALLEST = 1.1
# Factors of units: only the torques show which channel has the wrong one.
UNITS = (180 / pi, 1000.0, 100.0, 2 * pi, 30 / pi)
# Gain of the change by the torques that makes it sure.
CERTAIN = 0.3


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Compare the recorded velocity with the motion, where there is one."""
    factor = common_factor(case)
    if factor is None or max(factor, 1 / factor) < SMALLEST:
        return [], case
    if any(abs(np.log(max(factor, 1 / factor) / unit)) < np.log(AGREED) for unit in UNITS):
        return [], case
    factor = case.dataset.rate / _whole(case.dataset.rate / factor)
    runs = tuple(replace(run, time=run.time * factor) for run in case.dataset.runs)
    repaired = Case(case.robot, replace(case.dataset, runs=runs))
    by_time = repaired.models.nominal.gain(case.models.nominal)
    scales = (1.0 / factor,) * case.robot.n
    by_position = case.models.explain(Hypothesis(position_scale=scales)).gain(case.models.nominal)
    seen = f'the positions of all joints change {factor:.4g} times as much as their velocities say'
    certainty = 0.97 if max(by_time, by_position) > CERTAIN else 0.85
    if by_position > max(by_time, CERTAIN):
        text = f'{seen}, and the torques say that the positions are wrong'
        fix = f'position.scale: {1 / factor:.4g} in the mapping (times the present value)'
        remedy = Remedy(position_scale=scales)
        return [Finding('position_unit', None, certainty, text, fix, remedy)], case
    rate = case.dataset.rate
    text = f'{seen}: it was not recorded at {rate:.4g} Hz but at {rate / factor:.4g} Hz'
    fix = (
        f'rate_hz: {rate / factor:.4g} and no time in the mapping, or another time.unit; where '
        f'the velocities are wrong, velocity.scale: {factor:.4g}'
    )
    return [Finding('time_unit', None, certainty, text, fix, Remedy(time_scale=factor))], repaired


def _whole(rate: float) -> float:
    """Return the rate, or the one with two digits that is nearer than the channel is exact."""
    near = float(f'{rate:.2g}')
    return near if abs(near / rate - 1.0) < 0.005 else rate


def common_factor(case: Case) -> float | None:
    """Return b of dq = b * integral of the velocity, None where the joints do not agree on one."""
    moving = case.signals.moving
    sums = np.zeros((3, case.robot.n))
    for run in case.dataset.runs:
        if run.velocity is None or len(run) < FEWEST:
            continue
        mean = 0.5 * (run.velocity[1:] + run.velocity[:-1])
        path = np.concatenate([np.zeros((1, mean.shape[1])), np.cumsum(mean, axis=0) * run.step])
        P = without_line(run.position)
        V = without_line(path)
        sums += [(a * b).sum(axis=0) for a, b in ((P, P), (P, V), (V, V))]
    PP, PV, VV = sums
    good = np.sqrt(PP * VV) * ALIKE < PV
    if good.sum() < SHARE * np.sum(moving) or not np.any(good & moving):
        return None
    found = (PV / np.maximum(VV, 1e-300))[good & moving]
    return float(np.median(found)) if found.max() <= AGREED * found.min() else None
