"""The simulated robot behind the node `ddm_simulator`: what torque acts, sample by sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.reference_buffer import Brake, ReferenceBuffer
from robot_id.control.tuning import tune
from robot_id.dynamics import Disturbances, Plant, RunningController
from robot_id.robot import Loop, Robot
from robot_id.robot.payload import Payload, payload_parameters
from robot_id.trajectory.random import USUAL_ACCELERATION

Array = NDArray[np.float64]
# A reference point is never extrapolated further than this.
LONGEST_CARRY_S = 0.2


class SimulatedRobot:
    """
    A plant with the torque limits, the safe stop and the control loop of a real robot.

    :param robot: the Robot.
    :param parameters: (b,) truth.
    :param loop: the robot's own loop, for `closed_loop` and for holding.
    :param rate_hz: samples per second.
    :param disturbances: noise and encoder steps.
    :param timeout_s: a command acts no longer than this, a reference is extrapolated no longer.
    :param hold: whether a stale command leads to holding the position; else to zero torque.
    :ivar repeated: samples whose command was still that of the sample before.
    """

    def __init__(
        self,
        robot: Robot,
        parameters: Array,
        loop: Loop,
        rate_hz: float,
        disturbances: Disturbances,
        timeout_s: float,
        hold: bool,
    ) -> None:
        self.robot = robot
        own = tune(robot, loop.model_copy(update={'rate_hz': rate_hz}))
        self.loop = RunningController(robot, own)
        self.bare = np.asarray(parameters, float)
        zero = np.zeros(robot.n)
        self.plant = Plant(robot, self.bare, zero, rate_hz=rate_hz, disturbances=disturbances)
        self.timeout_s, self.hold = timeout_s, hold
        self.references = ReferenceBuffer(robot.joint_names)
        self.stale = True
        a = robot.limits.acceleration
        self._braking = 0.5 * np.where(np.isfinite(a), a, USUAL_ACCELERATION)
        self.reset(zero, zero)

    @property
    def sample(self) -> int:
        """Number of the sample that the robot is at."""
        return self.plant.sample

    def reset(self, position: Array, velocity: Array) -> None:
        """Put the robot into a state, with no command."""
        self.plant.reset(position, velocity)
        # (n,) the torques that act at this sample, with their noise.
        self.effort = np.zeros(self.robot.n)
        self._command: Array | None = None
        self._since = self.repeated = 0
        self._brake: Brake | None = None
        self.references.clear()
        self.loop.reset(self.plant.measured, self.plant.velocity)
        self._point: Array | None = None
        self._before = self.plant.measured - self.plant.step * self.plant.velocity

    def set_payload(self, payload: Payload | None, link: str | None) -> None:
        """Put a payload on a link in place of the one before; None takes it off."""
        change = 0.0 if payload is None else payload_parameters(self.robot, payload, link)
        self.plant.set_parameters(self.bare + change)

    def command(self, torque: Array) -> None:
        """Take (n,) torques as the command from now on, limited as a drive limits them."""
        limit = self.robot.limits.torque
        self._command = np.clip(torque, -limit, limit)
        self._since = self.sample

    def advance_by_command(self) -> None:
        """Go to the next sample under the last command, or safely when it is stale."""
        age = (self.sample - self._since) * self.plant.step
        measured = self.plant.measured
        self.stale = self._command is None or self._outlives(age)
        if not self.stale:
            assert self._command is not None
            torque = self._command
            self.repeated += age > 0.0
            self._point = None
        elif self.hold:
            if self._point is None:
                self._point = np.array([measured, np.zeros(self.robot.n), np.zeros(self.robot.n)])
                self.loop.reset(measured, self.plant.velocity)
            torque = self.loop.torque(self._point, measured)
        else:
            torque = np.zeros(self.robot.n)
        self._advance(torque)

    def _outlives(self, age: float) -> bool:
        """
        Whether a command of this age [s] would act beyond its time in the sample that begins.

        Its age counts from the sample that it came after, so the torque is zero within the time
        also by the clock of who sent it. Every command acts for one sample.
        """
        step = self.plant.step
        return age > 0.0 and age + step > self.timeout_s - 1e-9 * step

    def advance_by_reference(self, stamp: int) -> None:
        """Go to the next sample under the robot's own loop; brake where the reference ends."""
        measured = self.plant.measured
        point = self.references.at(stamp, round(1e9 * min(self.timeout_s, LONGEST_CARRY_S)))
        self.stale = point is None
        if point is not None:
            self._brake = None
        else:
            if self._brake is None:
                if self._point is None:
                    self._point = np.array(
                        [measured, np.zeros(self.robot.n), np.zeros(self.robot.n)]
                    )
                self._brake = Brake(self._point, stamp, self._braking)
            point = self._brake.at(stamp)
        self._point = point
        self._advance(self.loop.torque(point, measured))

    def _advance(self, torque: Array) -> None:
        before = self.plant.measured
        self.effort = self.plant.advance(torque)
        self._before = before

    def speed(self) -> Array:
        """(n,) velocity as a drive measures it: the backward difference of its encoder."""
        return (self.plant.measured - self._before) / self.plant.step
