"""A motion at another place."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import Array, Extremes, Trajectory, as_vector


class Shifted(Trajectory):
    """
    q(t) + c of another motion q(t), with its speeds and accelerations.

    :param trajectory: the motion.
    :param offset: (n,) c, rad or m.
    """

    kind = 'shifted'
    nested = ('trajectory',)

    def __init__(self, trajectory: Trajectory, offset: ArrayLike) -> None:
        self.trajectory = trajectory
        self.offset = as_vector(offset, 'shifted: offset', trajectory.n)
        self.duration, self.periodic = trajectory.duration, trajectory.periodic

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.trajectory.n

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        q, dq, ddq = self.trajectory._evaluate(t)
        return q + self.offset, dq, ddq

    def extremes(self) -> Extremes:
        """Return the extremes of the motion, with its positions shifted."""
        peak = self.trajectory.extremes()
        c = self.offset
        return Extremes(peak.lower + c, peak.upper + c, peak.velocity, peak.acceleration)

    def to_spec(self) -> dict[str, Any]:
        """Return the motion and the offset as plain data."""
        spec = self.trajectory.to_spec()
        return {'kind': self.kind, 'trajectory': spec, 'offset': self.offset.tolist()}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Shifted:
        """Build the motion from its plain data, the other motion built already."""
        if not isinstance(spec['trajectory'], Trajectory):
            raise TrajectoryError("shifted: 'trajectory' must be a trajectory")
        return cls(**spec)
