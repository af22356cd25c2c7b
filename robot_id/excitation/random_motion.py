"""Random motions of a family that use the limits."""

from __future__ import annotations

import numpy as np

from robot_id.excitation.objective import Objective
from robot_id.trajectory.trajectory import Array


def draw(objective: Objective, rng: np.random.Generator) -> Array:
    """
    Return a random motion (P, n) that touches a limit of every joint, anywhere in the range.

    Torques and clearance are not checked: `objective.shrink` makes it smaller for them.
    """
    limits = objective.limits
    X = objective.family.draw(rng, objective.robot.n)
    X[0] = 0.0
    peak = objective.family.member(X, np.zeros(objective.robot.n)).extremes()
    X /= np.maximum.reduce(
        [
            (peak.upper - peak.lower) / (2.0 * limits.half),
            peak.velocity / limits.velocity,
            peak.acceleration / limits.acceleration,
        ]
    )
    peak = objective.family.member(X, limits.middle).extremes()
    low, high = limits.lower - peak.lower, limits.upper - peak.upper
    X[0] = low + rng.random(objective.robot.n) * np.maximum(high - low, 0.0)
    return X
