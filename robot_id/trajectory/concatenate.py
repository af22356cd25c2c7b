"""Motions one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory


class Concatenation(Trajectory):
    """
    Runs its parts in turn, one pass of each; position and velocity must meet where they join.

    :param parts: the motions, of the same joints. The same part may stand there several times.
    :param periodic: whether the whole goes on cycle after cycle.
    """

    kind = 'concatenation'
    nested = ('parts',)

    def __init__(self, parts: Sequence[Trajectory], periodic: bool = False) -> None:
        if not parts:
            raise TrajectoryError('concatenation: no parts')
        self.parts = tuple(parts)
        joints = {part.n for part in self.parts}
        if len(joints) > 1:
            raise TrajectoryError(f'concatenation: parts of {sorted(joints)} joints')
        self.breaks = np.concatenate(([0.0], np.cumsum([part.duration for part in self.parts])))
        self.duration = float(self.breaks[-1])
        self.periodic = bool(periodic)
        self._bounds = _envelope(self.parts)
        for i, (before, after) in enumerate(zip(self.parts, self.parts[1:])):
            self._check_joint(i, before, after)
        if self.periodic:
            self._check_closed()

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.parts[0].n

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Concatenation:
        """Build the motion from its plain data, the parts built already."""
        if not isinstance(spec['parts'], list):
            raise TrajectoryError("concatenation: 'parts' must be a list of trajectories")
        return cls(**spec)

    def _check_joint(self, i: int, before: Trajectory, after: Trajectory) -> None:
        ends = before._evaluate(np.array([before.duration]))
        starts = after._evaluate(np.array([0.0]))
        width = self._bounds.upper - self._bounds.lower
        for what, end, start, scale in zip(
            ('position', 'velocity'), ends, starts, (width, self._bounds.velocity)
        ):
            jump = np.abs(start - end)[0]
            bad = np.flatnonzero(jump > 1e-6 * np.maximum(scale, 1e-6))
            if bad.size:
                j = int(bad[0])
                raise TrajectoryError(
                    f'concatenation: the {what} of joint {j + 1} jumps from {end[0, j]:.6g} to '
                    f'{start[0, j]:.6g} between parts {i + 1} and {i + 2}; blend them'
                )

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        which = np.searchsorted(self.breaks, t, side='right') - 1
        which = np.clip(which, 0, len(self.parts) - 1)
        q, dq, ddq = (np.empty((len(t), self.n)) for _ in range(3))
        for i in np.unique(which):
            rows = which == i
            local = np.clip(t[rows] - self.breaks[i], 0.0, self.parts[i].duration)
            q[rows], dq[rows], ddq[rows] = self.parts[i]._evaluate(local)
        return q, dq, ddq

    def extremes(self) -> Extremes:
        """Return the extremes of all parts together."""
        return self._bounds


def cycle(trajectory: Trajectory, cycles: int) -> Trajectory:
    """Return several passes of a periodic motion as one motion that stops at the end."""
    if cycles < 1 or cycles != int(cycles):
        raise TrajectoryError(f'the number of cycles must be 1 or more, got {cycles}')
    if cycles > 1 and not trajectory.periodic:
        raise TrajectoryError(
            f'{cycles} cycles of a one-shot {trajectory.kind}: it does not close'
        )
    return Concatenation([trajectory] * int(cycles))


def _envelope(parts: Sequence[Trajectory]) -> Extremes:
    unique = {id(part): part.extremes() for part in parts}.values()
    return Extremes(
        np.min([e.lower for e in unique], axis=0),
        np.max([e.upper for e in unique], axis=0),
        np.max([e.velocity for e in unique], axis=0),
        np.max([e.acceleration for e in unique], axis=0),
    )
