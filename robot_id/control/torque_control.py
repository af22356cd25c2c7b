"""The logic of the node `ctc_controller`: which reference is followed, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from robot_id.control import ComputedTorque
from robot_id.dynamics.kernels import FAST
from robot_id.kernel_cache import njit
from robot_id.model import Robot
from robot_id.trajectory.braking import Brake
from robot_id.trajectory.lively import USUAL_ACCELERATION, USUAL_VELOCITY
from robot_id.trajectory.reference_buffer import ReferenceBuffer

Array = NDArray[np.float64]
# Of a joint's range, and where it has none.
ERROR_SHARE, USUAL_ERROR = 0.05, 0.2
# Of its velocity limit: the largest jump of a joint's reference when it is met.
SPEED_SHARE = 0.1


class Mode(Enum):
    """What the controller is doing."""

    WAITING = 'waits for joint_states'
    HOLDING = 'holds: no reference'
    FOLLOWING = 'follows the reference'
    BRAKING = 'brakes: the reference was lost'
    STOPPED = 'stopped'


@dataclass(frozen=True)
class Command:
    """
    Torques of one sample.

    :param torque: (n,) limited.
    :param point: (3, n) the reference that they are for.
    :param following: whether that is the user's reference, so that it may be learned from.
    """

    torque: Array
    point: Array
    following: bool


class TorqueControl:
    """
    Computed torque that holds the robot when there is no reference.

    Without a reference the robot is held where it stands. A lost reference is braked to rest and
    held. One that is far from the robot, or passes it at speed, is not followed: the robot is held
    until it comes near and slow. A robot that leaves its reference is held until `restart`.

    :param controller: the law.
    :param lost_s: seconds for which the last point is extrapolated before the reference counts as
        lost.
    :param gap_s: after a longer time between joint states the robot starts again from a hold.
    :param largest_error: (n,) or 0 for 5 % of each joint's range.
    """

    def __init__(
        self, controller: ComputedTorque, lost_s: float, gap_s: float, largest_error: float = 0.0
    ) -> None:
        robot = controller.robot
        self.controller = controller
        self.references = ReferenceBuffer(robot.joint_names)
        self.largest_error = error_limits(robot, largest_error)
        self._lost_ns, self._gap_ns = round(lost_s * 1e9), round(gap_s * 1e9)
        self._period_ns = 1e9 * controller.period
        a = robot.limits.acceleration
        self._braking = 0.5 * np.where(np.isfinite(a), a, USUAL_ACCELERATION)
        v = robot.limits.velocity
        self._speed_jump = SPEED_SHARE * np.where(np.isfinite(v), v, USUAL_VELOCITY)
        self.peak_error = np.zeros(robot.n)
        # Compiled before the robot moves.
        _near(np.zeros((3, robot.n)), np.zeros(robot.n), self.largest_error, self.peak_error)
        self.restart()

    def restart(self) -> None:
        """Wait for the robot and forget its past."""
        self.mode = Mode.WAITING
        self.reason = ''
        self.pause()

    def pause(self) -> None:
        """Forget the motion, such as after the measurements stopped; a fault stays."""
        self.controller.reset()
        self._last: int | None = None
        self._point: Array | None = None
        self._brake: Brake | None = None
        if self.mode is not Mode.STOPPED:
            self.mode = Mode.WAITING

    def step(self, stamp: int, position: Array) -> Command:
        """
        Return the torques for a measured position (n,) with its stamp in ns.

        Stamps must increase; drop the others.
        """
        elapsed: float | None = None
        if self._last is not None:
            gone = stamp - self._last
            if gone > self._gap_ns:
                self.pause()
            elif abs(gone - self._period_ns) > 1e-3 * self._period_ns:
                elapsed = gone / 1e9
        self._last = stamp
        point, following = self._reference(stamp, position)
        self._point = point
        torque = self.controller.step_to(point, position, elapsed)
        return Command(torque, point, following)

    def _reference(self, stamp: int, position: Array) -> tuple[Array, bool]:
        """Return (3, n) the reference point, and whether it is the user's."""
        if self._point is None:
            rest = np.zeros_like(position)
            self._point = np.array([position, rest, rest])
        if self.mode is Mode.STOPPED:
            return self._point, False
        point = self.references.at(stamp, self._lost_ns)
        if point is not None and self._acceptable(point, position):
            self.mode, self._brake, self.reason = Mode.FOLLOWING, None, ''
            return point, True
        if self.mode is Mode.STOPPED:
            rest = np.zeros_like(position)
            return np.array([position, rest, rest]), False
        if self.mode is Mode.FOLLOWING:
            self._brake = Brake(self._point, stamp, self._braking)
            self.mode = Mode.BRAKING
        if self._brake is None:
            self.mode = Mode.HOLDING
            return self._point, False
        if self._brake.over(stamp):
            self.mode = Mode.HOLDING
        return self._brake.at(stamp), False

    def _acceptable(self, point: Array, position: Array) -> bool:
        """Whether the robot is near its reference; a robot that has left it stops."""
        if _near(point, position, self.largest_error, self.peak_error):
            return self.mode is Mode.FOLLOWING or self._slow(point)
        error = np.abs(point[0] - position)
        j = int(np.argmax(error / self.largest_error))
        joint = self.controller.robot.joint_names[j]
        what = f"joint '{joint}' is {error[j]:.4g} from its reference, allowed {self._limit(j)}"
        if self.mode is Mode.FOLLOWING:
            self.mode, self.reason = Mode.STOPPED, f'{what}: held until it is activated again'
        else:
            self.reason = f'{what}: the reference is not followed'
        return False

    def _slow(self, point: Array) -> bool:
        """Whether a reference can be joined without a jerk."""
        assert self._point is not None
        jump = np.abs(point[1] - self._point[1])
        j = int(np.argmax(jump / self._speed_jump))
        if jump[j] <= self._speed_jump[j]:
            return True
        joint = self.controller.robot.joint_names[j]
        self.reason = (
            f"the reference passes joint '{joint}' at {point[1, j]:.3g}, allowed "
            f'{self._speed_jump[j]:.3g}: it is not followed'
        )
        return False

    def _limit(self, j: int) -> str:
        return f'{self.largest_error[j]:.3g}'


@njit(**FAST)
def _near(point, position, largest, peak):
    """
    Whether no joint is further than `largest` (n,) from its reference point (3, n).

    Then `peak` (n,) takes in the distances. One call instead of five of numpy, each of which would
    wait for memory in a control loop.
    """
    for j in range(position.shape[0]):
        if not abs(point[0, j] - position[j]) <= largest[j]:
            return False
    for j in range(position.shape[0]):
        peak[j] = max(peak[j], abs(point[0, j] - position[j]))
    return True


def error_limits(robot: Robot, value: float) -> Array:
    """(n,) the largest tracking error: a number for all joints, or 0 for a share of the range."""
    if value > 0.0:
        return np.full(robot.n, value)
    width = robot.limits.upper - robot.limits.lower
    return np.where(np.isfinite(width), ERROR_SHARE * width, USUAL_ERROR)
