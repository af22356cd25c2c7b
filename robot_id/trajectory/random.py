"""A motion for any robot: a random Fourier series that uses its limits well."""

from __future__ import annotations

import numpy as np

from robot_id.exceptions import TrajectoryError
from robot_id.robot import Limits
from robot_id.trajectory.fourier import Fourier

# For a robot without limits.
USUAL_REACH, USUAL_VELOCITY, USUAL_ACCELERATION = 1.5, 2.0, 10.0
# Each sample takes all harmonics: a longer motion has no more of them, and is slower.
LONGEST_S = 600.0


def random_trajectory(
    limits: Limits, seconds: float, seed: int = 0, share: float = 0.8, harmonics: int | None = None
) -> Fourier:
    """
    Return a series at rest at both ends, each joint scaled to a share of its tightest limit.

    :param seconds: period of the motion.
    :param share: of position, velocity and acceleration limits that is used, below 1.
    :param harmonics: of the series; None: 1.2 per second, of the first ten minutes.
    """
    if not seconds > 0.0:
        raise TrajectoryError(f'a motion needs a duration above 0 s, got {seconds}')
    if not 0.0 < share <= 1.0:
        raise TrajectoryError(f'share must lie between 0 and 1, got {share}')
    rng = np.random.default_rng(seed)
    n, H = len(limits.lower), harmonics or max(4, round(1.2 * min(seconds, LONGEST_S)))
    finite = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower = np.where(finite, limits.lower, -USUAL_REACH)
    upper = np.where(finite, limits.upper, USUAL_REACH)
    middle, half = (lower + upper) / 2.0, np.minimum((upper - lower) / 2.0, 2.0)
    velocity = np.where(np.isfinite(limits.velocity), limits.velocity, USUAL_VELOCITY)
    acceleration = np.where(
        np.isfinite(limits.acceleration), limits.acceleration, USUAL_ACCELERATION
    )
    sine, cosine = rng.normal(size=(n, H)), rng.normal(size=(n, H))
    unit = Fourier.at_rest(seconds, middle, sine, cosine)
    reached = unit.extremes()
    gauge = np.max(
        [
            (reached.upper - middle) / half,
            (middle - reached.lower) / half,
            reached.velocity / velocity,
            reached.acceleration / acceleration,
        ],
        axis=0,
    )
    scale = (share / gauge)[:, None]
    return Fourier.at_rest(seconds, middle, unit.sine * scale, unit.cosine * scale)
