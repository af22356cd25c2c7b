"""
The reference of the next and the last few moments, looked up by time stamp.

When no further reference comes, `Brake` leads from the moving one to rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.stamps import SECOND, Stamp, to_ns
from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError

Array = NDArray[np.float64]


class Brake:
    """
    Each joint slows down with a constant acceleration and then stays where it is.

    :param point: (3, n) the reference when braking begins.
    :param start_ns: its stamp.
    :param acceleration: (n,) of the braking, positive.
    """

    def __init__(self, point: Array, start_ns: int, acceleration: Array) -> None:
        self._q, self._dq = point[0].copy(), point[1].copy()
        self._start = start_ns
        self._a = -np.sign(self._dq) * acceleration
        self._end = np.abs(self._dq) / acceleration

    def at(self, stamp: int) -> Array:
        """Return (3, n) position, velocity and acceleration."""
        elapsed = max((stamp - self._start) / 1e9, 0.0)
        t = np.minimum(elapsed, self._end)
        moving = elapsed < self._end
        q = self._q + t * (self._dq + 0.5 * t * self._a)
        return np.array(
            [q, np.where(moving, self._dq + t * self._a, 0.0), np.where(moving, self._a, 0.0)]
        )

    def over(self, stamp: int) -> bool:
        """Whether all joints are at rest."""
        return bool(np.all((stamp - self._start) / 1e9 >= self._end))


class Header(Protocol):
    """Of a message: its stamp."""

    stamp: Stamp


class Point(Protocol):
    """The fields of a trajectory_msgs/JointTrajectoryPoint."""

    positions: Sequence[float]
    velocities: Sequence[float]
    accelerations: Sequence[float]
    time_from_start: Stamp


class ReferenceMessage(Protocol):
    """The fields of a trajectory_msgs/JointTrajectory."""

    header: Header
    joint_names: Sequence[str]
    points: Sequence[Point]


class ReferenceBuffer:
    """
    Points of a reference by their stamps, in the robot's order of joints.

    A publisher stamps a reference with the time at which it must be reached, usually a little
    ahead. Between two points the earlier one is extrapolated: q + dq t + ddq t^2 / 2.

    :param joint_names: of the robot.
    :param length: points that are kept.
    :param held: points are commands that a drive holds until the next one: they are not
        extrapolated, and need no velocities and accelerations.
    """

    def __init__(
        self, joint_names: tuple[str, ...], length: int = 256, held: bool = False
    ) -> None:
        self._matcher, self._held = JointMatcher(joint_names), held
        self._length = length
        self._stamps: list[int] = []
        self._points: list[Array] = []

    def __len__(self) -> int:
        return len(self._stamps)

    @property
    def newest(self) -> int | None:
        """Stamp of the last point in ns."""
        return self._stamps[-1] if self._stamps else None

    def clear(self) -> None:
        """Forget all points."""
        self._stamps.clear()
        self._points.clear()

    def forget_beyond(self, stamp: int) -> None:
        """Forget points later than a stamp, after time was set back."""
        at = bisect_right(self._stamps, stamp)
        del self._stamps[at:], self._points[at:]

    def take(self, message: ReferenceMessage) -> None:
        """
        Take in all points of a message.

        :raises DataError: naming what is missing or not finite; nothing is kept then.
        """
        self._matcher.match(message.joint_names)
        start = to_ns(message.header.stamp)
        if not message.points:
            raise DataError('the reference has no points')
        found = []
        for point in message.points:
            rows = [
                self._matcher.take(values, f'reference {what}')
                if len(values) or not self._held or what == 'position'
                else np.zeros(len(self._matcher.wanted))
                for what, values in (
                    ('position', point.positions),
                    ('velocity', point.velocities),
                    ('acceleration', point.accelerations),
                )
            ]
            found.append((start + to_ns(point.time_from_start), np.array(rows)))
        for stamp, triple in found:
            self.put(stamp, triple)

    def put(self, stamp: int, rows: Array) -> None:
        """Keep a point (3, n): position, velocity and acceleration at a stamp [ns]."""
        stamps = self._stamps
        if stamps and stamp < stamps[-1] - SECOND:
            # Time was reset.
            self.clear()
        at = bisect_right(stamps, stamp)
        if at and stamps[at - 1] == stamp:
            self._points[at - 1] = rows
            return
        stamps.insert(at, stamp)
        self._points.insert(at, rows)
        if len(stamps) > self._length:
            del stamps[0], self._points[0]

    def exact(self, stamp: int) -> Array | None:
        """Return (3, n) the point with just this stamp, None when there is none."""
        at = bisect_right(self._stamps, stamp) - 1
        return self._points[at] if at >= 0 and self._stamps[at] == stamp else None

    def at(self, stamp: int, longest_ns: int) -> Array | None:
        """
        Return (3, n) position, velocity and acceleration at a time.

        :param longest_ns: longest extrapolation of a point; None is returned beyond.
        """
        at = bisect_right(self._stamps, stamp) - 1
        if at < 0:
            return None
        ahead = stamp - self._stamps[at]
        point = self._points[at]
        if ahead > longest_ns:
            return None
        if ahead == 0 or self._held:
            return point
        t = ahead / 1e9
        q, dq, ddq = point
        return np.array([q + t * dq + 0.5 * t**2 * ddq, dq + t * ddq, ddq])

    def last(self) -> Array:
        """Return (3, n) the newest point."""
        return self._points[-1]
