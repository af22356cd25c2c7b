"""How far a robot has come along a plan, read from its positions."""

from __future__ import annotations

import numpy as np

from robot_id.trajectory.trajectory import Array, Trajectory

# s between two points of the plan that are compared with a position.
STEP_S = 0.004
# s that a robot may advance from one position to the next.
LARGEST_ADVANCE_S = 0.5
# A controller runs no faster than the plan, but for its clock.
FASTEST = 1.02


class ExecutedTime:
    """
    The time on the plan of the point that is nearest to a position; it never runs back.

    With speed scaling a controller takes longer than planned, and nothing but the motion tells by
    how much: the executed time is that of the plan, not of a clock.

    :param whole: the plan.
    :ivar value: seconds into the plan.
    """

    def __init__(self, whole: Trajectory) -> None:
        count = max(2, int(np.ceil(whole.duration / STEP_S)) + 1)
        self._time = np.linspace(0.0, whole.duration, count)
        self._q = whole.sample(self._time)[0]
        self._range = np.maximum(np.ptp(self._q, axis=0), 1e-3)
        self.value = 0.0
        self.seen = 0.0

    def update(self, elapsed: float, position: Array) -> float:
        """
        Take in a position (n,) and return the executed time.

        :param elapsed: seconds since the controller got the plan.
        """
        self.seen = elapsed
        last = min(FASTEST * elapsed, self.value + LARGEST_ADVANCE_S)
        first, behind = np.searchsorted(self._time, (self.value, last), side='right')
        first = max(int(first) - 1, 0)
        some = self._q[first : max(int(behind), first + 1)]
        distance = np.sum(((some - position) / self._range) ** 2, axis=1)
        # Where the plan rests, all its points are as near: then time goes on.
        nearest = len(distance) - 1 - int(np.argmin(distance[::-1]))
        self.value = max(self.value, float(self._time[first + nearest]))
        return self.value
