"""Smooth approach moves from a posture into a motion, and return moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.concatenate import Concatenation
from robot_id.trajectory.quintic import Quintic
from robot_id.trajectory.trajectory import Array, Trajectory, as_vector

_SHORTEST = 1e-3
_LONGEST = 600.0
# The duration is found to a quarter over 2^20 of itself: a node plans while its robot waits.
_HALVINGS = 20


def approach(
    start: tuple[Array, Array, Array],
    end: tuple[Array, Array, Array],
    velocity: ArrayLike,
    acceleration: ArrayLike,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
) -> Quintic | None:
    """
    Return a short quintic between two states (q, dq, ddq) within the bounds, None if they agree.

    :param start: (n,) position, velocity and acceleration at the start; `end` alike.
    :param velocity: (n,) bound on |dq|; `acceleration` bounds |ddq|.
    :param lower: (n,) lowest position, `upper` the highest.
    """
    n = len(start[0])
    low, high = (np.broadcast_to(np.asarray(b, float), (n,)) for b in (lower, upper))
    bounds = [np.broadcast_to(np.asarray(b, float), (n,)) for b in (velocity, acceleration)]
    if np.any(np.concatenate(bounds) <= 0.0) or np.any(np.isnan(np.concatenate(bounds))):
        raise TrajectoryError(
            'blend: bounds on velocity and acceleration must be positive', code='not_positive'
        )
    if not np.all(np.isfinite(bounds[0]) | np.isfinite(bounds[1])):
        j = int(np.flatnonzero(~(np.isfinite(bounds[0]) | np.isfinite(bounds[1])))[0])
        raise TrajectoryError(
            f'blend: joint {j + 1} has no velocity and no acceleration limit', code='no_limits'
        )
    if all(np.allclose(a, b, rtol=0.0, atol=1e-12) for a, b in zip(start, end)):
        return None

    def quintic(T: float) -> Quintic:
        return Quintic([start[0], end[0]], T, [start[1], end[1]], [start[2], end[2]])

    def fits(T: float) -> bool:
        peak = quintic(T).extremes()
        slack = 1e-9
        return bool(
            np.all(peak.velocity <= bounds[0] * (1.0 + slack))
            and np.all(peak.acceleration <= bounds[1] * (1.0 + slack))
            and np.all(peak.lower >= low - slack)
            and np.all(peak.upper <= high + slack)
        )

    # Longer is not always better when the ends move, so search upwards and refine the first fit.
    # No motion is shorter than its way at full speed.
    T = max(_SHORTEST, float(np.max(np.abs(end[0] - start[0]) / bounds[0])))
    while not fits(T):
        T *= 1.25
        if T > _LONGEST:
            raise TrajectoryError(
                'blend: no quintic between the start posture and the motion keeps the limits',
                code='limits_exceeded',
            )
    shorter, longer = T / 1.25, T
    for _ in range(_HALVINGS):
        middle = 0.5 * (shorter + longer)
        shorter, longer = (shorter, middle) if fits(middle) else (middle, longer)
    return quintic(longer)


def blend(
    trajectory: Trajectory,
    posture: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    back: bool = True,
) -> Trajectory:
    """
    Return the motion with a way from rest in `posture` to its start, and back from its end.

    Position, velocity and acceleration are continuous, so a motion that does not start at rest is
    joined at speed. The result is one-shot.

    :param posture: (n,) the present position of the robot.
    :param velocity: (n,) bound on |dq| of the ways, or one number; `acceleration` bounds |ddq|.
    :param lower: (n,) lowest position of the ways, `upper` the highest.
    :param back: whether to return to the posture.
    """
    place = as_vector(posture, 'blend: posture', trajectory.n)
    rest = (place, np.zeros(trajectory.n), np.zeros(trajectory.n))
    q, dq, ddq = trajectory._evaluate(np.array([0.0, trajectory.duration]))
    bounds = (velocity, acceleration, lower, upper)
    parts: list[Trajectory | None] = [
        approach(rest, (q[0], dq[0], ddq[0]), *bounds),
        trajectory,
        approach((q[1], dq[1], ddq[1]), rest, *bounds) if back else None,
    ]
    return Concatenation([part for part in parts if part is not None])
