"""The logic of the node `ctc_controller`: which reference is followed, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control import ComputedTorque
from robot_id.control.runtime.joining import Joining
from robot_id.control.runtime.measured_velocity import MeasuredVelocity, SampleClock
from robot_id.control.runtime.reference_buffer import Brake, ReferenceBuffer
from robot_id.control.supervision.mistakes import name_mistake
from robot_id.control.supervision.supervisor import BRAKED, Kind, Supervisor, Trip
from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.kernel_cache import njit
from robot_id.robot import Robot
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY

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
    RELEASED = 'stopped with zero torque'


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
    until it comes near and slow. Where the start is soft, the robot joins a reference without a
    jump, and a joint that its limited torque left behind does so again.

    A supervisor judges every sample of every mode. On a violation the robot is braked and held
    where its model has shown to be right, otherwise, or when that goes wrong too, it gets zero
    torque; so it stays until `restart`.

    :param controller: the law.
    :param lost_s: seconds for which the last point is extrapolated before the reference counts as
        lost.
    :param gap_s: after a longer time between joint states the robot starts again from a hold.
    :param largest_error: (n,) or 0 for 5 % of each joint's range.
    :param supervision: options of the Supervisor.
    :ivar trip: the violation that stopped the robot, None before.
    :ivar probe: (n,) added to the torques by a commissioning, None outside of one.
    """

    def __init__(
        self,
        controller: ComputedTorque,
        lost_s: float,
        gap_s: float,
        largest_error: float = 0.0,
        **supervision: Any,
    ) -> None:
        robot = controller.robot
        self.controller = controller
        self.references = ReferenceBuffer(robot.joint_names)
        self.largest_error = error_limits(robot, largest_error)
        self.supervisor = Supervisor(controller, self.largest_error, **supervision)
        self._lost_ns, self._gap_ns = round(lost_s * 1e9), round(gap_s * 1e9)
        self._clock = SampleClock(1e9 * controller.period)
        self.velocity = MeasuredVelocity(robot)
        a = robot.limits.acceleration
        self._braking = 0.5 * np.where(np.isfinite(a), a, USUAL_ACCELERATION)
        v = robot.limits.velocity
        self._speed_jump = SPEED_SHARE * np.where(np.isfinite(v), v, USUAL_VELOCITY)
        self._joining = Joining(robot, np.sqrt(controller.settings.kp), self.largest_error)
        self.peak_error = np.zeros(robot.n)
        # Compiled before the robot moves.
        _near(np.zeros((3, robot.n)), np.zeros(robot.n), self.largest_error, self.peak_error)
        self.restart()

    def restart(self) -> None:
        """Wait for the robot and forget its past, a violation too; its start is soft again."""
        self.mode = Mode.WAITING
        self.reason = ''
        self.trip: Trip | None = None
        self.probe: Array | None = None
        self.supervisor.restart()
        self.velocity.restart()
        self.pause()

    def pause(self) -> None:
        """Forget the motion, such as after the measurements stopped; a fault stays."""
        self.controller.reset()
        self.supervisor.pause()
        self.velocity.pause()
        self._clock.restart()
        self._last: int | None = None
        self._point: Array | None = None
        self._brake: Brake | None = None
        self._joining.clear()
        if self.trip is None:
            self.mode = Mode.WAITING

    @property
    def stopped(self) -> bool:
        """Whether a violation stopped the robot."""
        return self.trip is not None

    def step(self, stamp: int, position: Array, velocity: Array | None = None) -> Command:
        """
        Return the torques for a measured position (n,) with its stamp in ns.

        Stamps must increase; drop the others.

        :param velocity: (n,) measured, None for none; used where it agrees with the positions.
        """
        if self._last is not None and stamp - self._last > self._gap_ns:
            self.pause()
        self._last = stamp
        elapsed = self._clock.periods(stamp) * self.controller.period
        point, following = self._reference(stamp, position)
        wanted = point
        if following and self._joining.active:
            self._joining.advance(elapsed)
            point, following = self._joining.point(wanted), False
        self._point = point
        controller = self.controller
        believed = self.velocity.choose(position, velocity, elapsed)
        torque = controller.step_to(point, position, elapsed, believed)
        if self.mode is Mode.RELEASED:
            torque[:] = 0.0
        elif self.probe is not None:
            torque += self.probe
        self.supervisor.swing(self.probe is not None)
        trip = self.supervisor.check(controller.inputs, elapsed, torque)
        if trip is not None and self.mode is not Mode.RELEASED:
            self._stop(trip, stamp, position)
            if self.mode is Mode.RELEASED:
                return Command(np.zeros_like(torque), point, False)
            return Command(torque, point, False)
        if self.supervisor.soft_start_s and self.supervisor.behind.any():
            self._begin_where_it_is(wanted, position)
        return Command(torque, point, following)

    def _begin_where_it_is(self, wanted: Array, position: Array) -> None:
        """Let joints that a limited torque left behind begin from where they are."""
        joints, speed = self.supervisor.behind, self.supervisor.speed
        if self.mode is Mode.FOLLOWING:
            self._joining.begin(wanted[:2] - np.array([position, speed]), joints)
        elif self.mode is Mode.HOLDING and self._brake is None:
            rest = np.where(joints, position, wanted[0])
            self._point = np.array([rest, np.zeros_like(rest), np.zeros_like(rest)])

    def refuse(self, trip: Trip) -> None:
        """Stop with zero torque for a reason that was found elsewhere, such as the rate."""
        self.trip, self.mode = trip, Mode.RELEASED
        self.reason = f'{trip.text}; until it is reset'

    def explain(self) -> None:
        """
        Find the mistake of the set-up behind a violation; some 50 ms, after the robot is safe.

        A robot that is braked by a model that has shown to be right made no such mistake.
        """
        if self.trip is None or self.mode is Mode.STOPPED or self.trip.mistake:
            return
        controller = self.controller
        mistake = name_mistake(
            controller.robot, controller.target, self.trip, self.supervisor.history(),
            controller.period, controller.settings.slope,
        )  # fmt: skip
        self.trip = replace(self.trip, mistake=mistake)
        self.reason = f'{self.trip.text}; until it is reset'

    def _stop(self, trip: Trip, stamp: int, position: Array) -> None:
        """Brake and hold where the model is trusted; else, and the second time, zero torque."""
        braked = self.trip is None and trip.kind in BRAKED and self.supervisor.trusted
        if self.trip is None:
            self.trip, self.reason = trip, f'{trip.text}; until it is reset'
        self.mode = Mode.STOPPED if braked else Mode.RELEASED
        if braked:
            rest = np.zeros_like(position)
            start = np.array([position, self.supervisor.speed, rest])
            self._brake = Brake(start, stamp, self._braking)
            self.controller.memory.integral[:] = 0.0
            self.supervisor.stop(stopping=True)

    def _reference(self, stamp: int, position: Array) -> tuple[Array, bool]:
        """Return (3, n) the reference point, and whether it is the user's."""
        if self._point is None:
            rest = np.zeros_like(position)
            self._point = np.array([position, rest, rest])
        if self.stopped:
            return self._stopped(stamp, position), False
        point = self.references.at(stamp, self._lost_ns)
        if point is not None and self._acceptable(point, position):
            if self.mode is not Mode.FOLLOWING and self.supervisor.soft_start_s:
                self._joining.begin(point[:2] - self._point[:2], np.ones(len(position), bool))
            self.mode, self._brake, self.reason = Mode.FOLLOWING, None, ''
            return point, True
        self._joining.clear()
        if point is not None and self.mode is Mode.FOLLOWING:
            self._stop(self._left(point, position), stamp, position)
            return self._stopped(stamp, position), False
        if self.mode is Mode.FOLLOWING:
            self._brake = Brake(self._point, stamp, self._braking)
            self.mode = Mode.BRAKING
        if self._brake is None:
            self.mode = Mode.HOLDING
            return self._point, False
        if self._brake.over(stamp):
            self.mode = Mode.HOLDING
        return self._brake.at(stamp), False

    def _stopped(self, stamp: int, position: Array) -> Array:
        """Return (3, n) what a robot that is stopped follows: its brake, or itself."""
        if self.mode is Mode.STOPPED and self._brake is not None:
            return self._brake.at(stamp)
        return np.array([position, np.zeros_like(position), np.zeros_like(position)])

    def _acceptable(self, point: Array, position: Array) -> bool:
        """Whether a reference may be joined: the robot is near it, and it is slow."""
        if _near(point, position, self.largest_error, self.peak_error):
            return self.mode is Mode.FOLLOWING or self._slow(point)
        if self.mode is not Mode.FOLLOWING:
            self.reason = f'{self._left(point, position).text}: the reference is not followed'
        return False

    def _left(self, point: Array, position: Array) -> Trip:
        """Return the joint that is furthest from its reference."""
        error = np.abs(point[0] - position)
        j = int(np.argmax(error / self.largest_error))
        names, largest = self.controller.robot.joint_names, self.largest_error
        return Trip(Kind.TRACKING, names[j], float(error[j]), float(largest[j]))

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
