"""Some joints of a motion, in another order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_id.exceptions import TrajectoryError, did_you_mean
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory


class Selection(Trajectory):
    """
    The columns `index` of another motion.

    :param trajectory: the motion.
    :param index: its columns, counted from 0, in the wanted order.
    """

    kind = 'selection'
    nested = ('trajectory',)

    def __init__(self, trajectory: Trajectory, index: Sequence[int]) -> None:
        if not isinstance(index, list) or not all(
            isinstance(i, int) and 0 <= i < trajectory.n for i in index
        ):
            raise TrajectoryError(f'selection: index {index!r} of {trajectory.n} joints')
        self.trajectory = trajectory
        self.index = np.array(index, dtype=int)
        self.duration = trajectory.duration
        self.periodic = trajectory.periodic

    @classmethod
    def by_name(
        cls, trajectory: Trajectory, names: Sequence[str], wanted: Sequence[str]
    ) -> Trajectory:
        """Return the motion with its columns `names` in the order of the wanted names."""
        if tuple(names) == tuple(wanted):
            return trajectory
        for name in wanted:
            if name not in names:
                raise TrajectoryError(
                    f"no joint '{name}': {did_you_mean(name, names)}", joint=name
                )
        return cls(trajectory, [list(names).index(name) for name in wanted])

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.index)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        q, dq, ddq = self.trajectory._evaluate(t)
        return q[:, self.index], dq[:, self.index], ddq[:, self.index]

    def extremes(self) -> Extremes:
        """Return the extremes of the selected joints."""
        peak = self.trajectory.extremes()
        i = self.index
        return Extremes(peak.lower[i], peak.upper[i], peak.velocity[i], peak.acceleration[i])
