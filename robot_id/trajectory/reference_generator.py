"""The reference of the node `trajectory_generator`: approach, cycles, a smooth stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import TrajectoryError
from robot_id.robot import Robot
from robot_id.trajectory.blend import approach
from robot_id.trajectory.concatenate import Concatenation
from robot_id.trajectory.limits import refuse_excess
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY
from robot_id.trajectory.trajectory import Trajectory

Array = NDArray[np.float64]
SHORTEST_STOP_S = 0.1
# rad/s or m/s: slower is at rest.
AT_REST = 1e-9


class ReferenceGenerator:
    """
    Gives the reference at any time, in nanoseconds of the robot's stamps.

    It moves from the present posture of the robot into the motion; after the last cycle, and after
    `stop`, the reference stays where it is.

    :param robot: the Robot.
    :param trajectory: one cycle.
    :param cycles: number of repetitions; 0: until `stop`.
    :param approach_share: share of the velocity and acceleration limits on the way to its start.
    :param tolerance: rad or m; no approach move if the robot is this close to the start.
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: Trajectory,
        cycles: int,
        approach_share: float,
        tolerance: float,
    ) -> None:
        check_limits(robot, trajectory)
        self.robot = robot
        limits = robot.limits
        v, a = limits.velocity, limits.acceleration
        self._velocity = approach_share * np.where(np.isfinite(v), v, USUAL_VELOCITY)
        self._acceleration = approach_share * np.where(np.isfinite(a), a, USUAL_ACCELERATION)
        self._cycle = self._closed(trajectory) if cycles != 1 else trajectory
        self._tolerance = tolerance
        self._length = np.inf if cycles == 0 else cycles * self._cycle.duration
        if cycles > 1:
            self._length -= self._cycle.duration - trajectory.duration
        self._approach: Trajectory | None = None
        self._start: int | None = None
        self._stop: int | None = None
        self.cycles = cycles

    @property
    def playing(self) -> bool:
        """Whether the motion was started."""
        return self._start is not None

    def start(self, stamp: int, position: Array) -> None:
        """Begin at a time, from rest at the measured position (n,)."""
        q, dq, ddq = self._cycle.sample(0.0)
        rest = np.zeros(self.robot.n)
        self._approach = None
        if np.any(np.abs(q - position) > self._tolerance):
            try:
                self._approach = self._way((position, rest, rest), (q, dq, ddq))
            except TrajectoryError:
                if np.any(np.abs(dq) > AT_REST):
                    raise
                # It begins with a jump of the acceleration, also for a robot that stands there.
                self._approach = self._way((position, rest, rest), (q, rest, rest))
        self._start, self._stop = stamp, None

    def _way(
        self, start: tuple[Array, Array, Array], end: tuple[Array, Array, Array]
    ) -> Trajectory | None:
        """Return a gentle way between two states that leaves the limits no further than now."""
        limits, position = self.robot.limits, start[0]
        return approach(
            start, end, self._velocity, self._acceleration,
            np.minimum(limits.lower, position), np.maximum(limits.upper, position),
        )  # fmt: skip

    def stop(self, stamp: int) -> None:
        """Slow down along the path, from this time on."""
        if self._start is not None and self._stop is None:
            self._stop = stamp

    @property
    def approach_s(self) -> float:
        """Seconds of the way to the start of the motion."""
        return 0.0 if self._approach is None else self._approach.duration

    def phase(self, stamp: int) -> float:
        """Return seconds into the motion, negative on the approach."""
        assert self._start is not None
        return (stamp - self._start) / 1e9 - self.approach_s

    def at(self, stamp: int) -> Array:
        """Return (3, n) position, velocity and acceleration."""
        assert self._start is not None
        if self._stop is None or stamp <= self._stop:
            return self._moving((stamp - self._start) / 1e9)
        # The clock of the motion slows down: rate r = 1 - 3 u^2 + 2 u^3 over the stopping time.
        T = self._stopping_s()
        u = min((stamp - self._stop) / 1e9 / T, 1.0)
        s = (self._stop - self._start) / 1e9 + T * (u - u**3 + 0.5 * u**4)
        rate, change = 1.0 - 3.0 * u**2 + 2.0 * u**3, (-6.0 * u + 6.0 * u**2) / T
        q, dq, ddq = self._moving(s)
        return np.array([q, rate * dq, rate**2 * ddq + change * dq])

    def block(self, stamps: NDArray[np.int64]) -> Array:
        """Return (N, 3, n) the points of many stamps at once, which costs little more than one."""
        assert self._start is not None
        elapsed = (stamps - self._start) / 1e9
        part, since = self._cycle, self.approach_s
        if self._approach is not None and elapsed[-1] < since:
            part, since = self._approach, 0.0
        inside = elapsed[0] >= since and elapsed[-1] - self.approach_s < self._length
        if self._stop is not None or not inside:
            return np.array([self.at(int(stamp)) for stamp in stamps])
        return np.stack(part.sample(elapsed - since), axis=1)

    def over(self, stamp: int) -> bool:
        """Whether the reference has come to its end."""
        if self._start is None:
            return True
        if self._stop is not None and stamp >= self._stop + 1e9 * self._stopping_s():
            return True
        return bool(self.phase(stamp) >= self._length)

    def _moving(self, elapsed: float) -> Array:
        """Return (3, n) the reference at a time after the start [s], as if there were no stop."""
        if self._approach is not None:
            if elapsed < self._approach.duration:
                return np.array(self._approach.sample(elapsed))
            elapsed -= self._approach.duration
        if elapsed < self._length:
            return np.array(self._cycle.sample(elapsed))
        # Within the last cycle, and there at its very end.
        last = self._length % self._cycle.duration
        end = self._cycle.duration if last < 1e-9 else last
        q = self._cycle._evaluate(np.array([end]))[0][0]
        return np.array([q, np.zeros_like(q), np.zeros_like(q)])

    def _stopping_s(self) -> float:
        """Return a stopping time that adds at most half of the acceleration limits."""
        peak = self._cycle.extremes().velocity
        limit = self.robot.limits.acceleration
        a = np.where(np.isfinite(limit), limit, USUAL_ACCELERATION)
        return max(float(np.max(3.0 * peak / a)), SHORTEST_STOP_S)

    def _closed(self, trajectory: Trajectory) -> Trajectory:
        """Return a motion that can be repeated: a one-shot one gets a way back to its start."""
        if trajectory.periodic:
            return trajectory
        q, dq, ddq = trajectory._evaluate(np.array([0.0, trajectory.duration]))
        limits = self.robot.limits
        back = approach(
            (q[1], dq[1], ddq[1]), (q[0], dq[0], ddq[0]), self._velocity, self._acceleration,
            limits.lower, limits.upper,
        )  # fmt: skip
        parts = [trajectory] if back is None else [trajectory, back]
        return Concatenation(parts, periodic=True)


def check_limits(robot: Robot, trajectory: Trajectory) -> None:
    """
    Refuse a motion that the robot cannot do.

    :raises TrajectoryError: with the joint, the value and its limit.
    """
    if trajectory.n != robot.n:
        raise TrajectoryError(
            f'a trajectory of {trajectory.n} joints for {robot.name} with {robot.n} '
            f'({", ".join(robot.joint_names)})'
        )
    refuse_excess(trajectory, robot.limits, robot.joint_names, 1e-6, 1e-3)
