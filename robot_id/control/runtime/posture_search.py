"""
The posture with the smallest eigenvalue of M(q), for a model that no theorem covers.

Base parameters of a physically consistent robot (see `regression.consistency.membership`) have a
positive definite M(q) in every posture. Others are judged where M(q) is weakest: from many
postures within the limits, the worst ones go down the smallest eigenvalue, joint by joint.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.positive_inertia import LeastInertia, inertia_eigenvalues
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.regression.consistency import Fitter
from robot_id.regression.consistency.membership import consistent_standard
from robot_id.robot import Robot

Array = NDArray[np.float64]
_POSTURES, _WORST, _STEPS = 1000, 8, (0.5, 0.2, 0.1, 0.05, 0.02)


def is_consistent(robot: Robot, chi: Array) -> bool:
    """Return whether a physically consistent robot has these (b,) base parameters."""
    return consistent_standard(Fitter(robot), chi) is not None


def weakest_posture(robot: Robot, chi: Array) -> LeastInertia:
    """Return the smallest eigenvalue of M(q) that a search within the limits finds, and where."""
    lower = np.maximum(robot.limits.lower, -np.pi)
    upper = np.minimum(robot.limits.upper, np.pi)
    q = sample_configurations(robot, _POSTURES)
    least = inertia_eigenvalues(robot, chi, q)
    order = np.argsort(least)[:_WORST]
    q, least = q[order], least[order]
    both = np.vstack([np.eye(robot.n), -np.eye(robot.n)])
    for step in _STEPS:
        for _ in range(10):
            trials = np.clip(q[:, None] + step * both, lower, upper)  # (worst, 2 n, n)
            found = inertia_eigenvalues(robot, chi, trials.reshape(-1, robot.n)).reshape(
                len(q), -1
            )
            best = np.argmin(found, axis=1)
            new = found[np.arange(len(q)), best]
            better = new < least - 1e-12 * np.abs(least)
            if not better.any():
                break
            q = np.where(better[:, None], trials[np.arange(len(q)), best], q)
            least = np.where(better, new, least)
    k = int(np.argmin(least))
    return LeastInertia(float(least[k]), q[k])
