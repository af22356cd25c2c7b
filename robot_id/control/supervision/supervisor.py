"""
One supervisor for every mode of the controller: what it saw, and why the robot may not go on.

It is fed with every sample, whatever the controller does, and knows no mode. See
`supervision_kernel` for what is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.computed_torque import ComputedTorque
from robot_id.control.supervision import rows as row
from robot_id.control.supervision.kernel import supervise
from robot_id.dynamics.inverse import bias
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Beyond the limits of the robot file: a loop overshoots, a violation of these does not pass.
SPEED_MARGIN, ACCELERATION_MARGIN = 1.25, 2.0
# Time constant of the low-pass filters, never below some samples, and of the comparison.
FILTER_S, FILTER_SAMPLES, WINDOW_FILTERS = 0.006, 3.0, 5.0
# A joint that starts may leave its reference by half of 5 degrees; a slide by as much of a metre's
# range as 5 degrees are of a turn.
START_ANGLE, START_SHARE, USUAL_RANGE = np.radians(2.5), 2.5 / 360.0, 1.0
# Of it, the share that the first torque of a start may move a joint within a time.
FIRST_SHARE, FIRST_S = 0.1, 0.05
HISTORY_S = 0.5


class Kind(Enum):
    """What was violated."""

    POSITION = row.POSITION
    VELOCITY = row.VELOCITY
    ACCELERATION = row.ACCELERATION
    TRACKING = row.TRACKING
    SATURATION = row.SATURATION
    POWER = row.POWER
    SIGN = row.SIGN
    GAIN = row.GAIN
    GRAVITY = row.GRAVITY
    START = row.START
    RATE = -1


# A motion that went wrong although the model is right: it can still brake the robot.
BRAKED = {Kind.POSITION, Kind.VELOCITY, Kind.ACCELERATION, Kind.TRACKING}
_TEXTS = {
    Kind.POSITION: "joint '{joint}' is at {value:.4g}, allowed to {bound:.4g}",
    Kind.VELOCITY: "joint '{joint}' moves at {value:.4g}, allowed {bound:.4g}",
    Kind.ACCELERATION: "joint '{joint}' accelerates by {value:.4g}, allowed {bound:.4g}",
    Kind.TRACKING: "joint '{joint}' is {value:.4g} from its reference, allowed {bound:.4g}",
    Kind.SATURATION: "the torque of joint '{joint}' is at its limit for {value:.3g} s, allowed "
    '{bound:.3g} s',
    Kind.POWER: "joint '{joint}' is driven away from its reference by its own torque ({value:.3g} "
    'J, allowed {bound:.3g} J)',
    Kind.SIGN: "joint '{joint}' moves against its torque ({value:.2f} times the motion that the "
    'model predicts)',
    Kind.GAIN: "joint '{joint}' moves {value:.3g} times as much as the model predicts, allowed "
    '{bound:.3g}',
    Kind.GRAVITY: 'the robot carries {value:.0%} of the gravity that the model adds at joint '
    "'{joint}', allowed {bound:.0%}",
    Kind.START: "joint '{joint}' leaves its start, by {value:.4g} until its brakes close, allowed "
    '{bound:.4g}, before its motion agreed with the model',
    Kind.RATE: 'joint states come at {value:.4g} Hz, rate_hz is {bound:.4g}',
}


@dataclass(frozen=True)
class Trip:
    """
    A violation.

    :param kind: of what.
    :param joint: its name.
    :param value: what was found; `bound` what was allowed, in SI units or as a ratio.
    :param mistake: the mistake of the set-up that explains it, '' where none was found.
    """

    kind: Kind
    joint: str
    value: float
    bound: float
    mistake: str = ''

    @property
    def text(self) -> str:
        """One line for the log and the diagnostics."""
        said = _TEXTS[self.kind].format(joint=self.joint, value=self.value, bound=self.bound)
        return f'{said}: {self.mistake}' if self.mistake else said


class Supervisor:
    """
    Judges every sample of a controller and limits its torque while the robot starts.

    :param controller: the law, whose model is compared with the motion.
    :param largest_error: (n,) tracking error.
    :param soft_start_s: seconds in which the torque grows, until the motion of a joint has agreed
        with the model within `start_share` of its limit, then to the whole limit; 0 trusts the
        model from the first sample.
    :param start_share: largest torque of a start, beyond the gravity of the model, as a share of
        the torque limit.
    :param saturation_s: longest time at a torque limit.
    :param applied: whether the torques reach the robot; not in a dry run.
    :param carried: the robot carries itself, so that no gravity is sent to it.
    """

    def __init__(
        self,
        controller: ComputedTorque,
        largest_error: Array,
        *,
        soft_start_s: float = 0.0,
        start_share: float = 0.15,
        saturation_s: float = 0.2,
        applied: bool = True,
        carried: bool = False,
    ) -> None:
        robot, period = controller.robot, controller.period
        self.robot, self._controller = robot, controller
        self.period, self.start_share, self.soft_start_s = period, start_share, soft_start_s
        self._carried = carried
        self._bounds = _bounds(robot, controller.settings.limit, largest_error)
        self.state = np.zeros((row.STATE_ROWS, robot.n))
        self._scalars = np.zeros(row.SCALARS)
        filter_s = max(FILTER_S, FILTER_SAMPLES * period)
        for at, value in (
            (row.FILTER_S, filter_s), (row.WINDOW_S, WINDOW_FILTERS * filter_s),
            (row.SATURATION_S, saturation_s), (row.RAMP_S, soft_start_s),
            (row.SHARE, start_share), (row.APPLIED, float(applied)),
        ):  # fmt: skip
            self._scalars[at] = value
        self._event = np.zeros(3)
        self._history = np.zeros((max(round(HISTORY_S / period), 8), 4, robot.n))
        self.restart()

    def restart(self, held: bool = False) -> None:
        """
        Trust nothing that was seen; all joints start softly again.

        :param held: the robot is held, so that no gravity is taken from it.
        """
        self.state[:] = 0.0
        self._scalars[: row.FILTER_S] = 0.0
        self._scalars[row.STOPPING] = 0.0
        if self._scalars[row.RAMP_S] == 0.0:
            self.state[row.AGREED] = 1.0
            self._scalars[row.GRAVITY_SEEN] = 1.0
        if held or self._carried or self._scalars[row.RAMP_S] == 0.0:
            self._scalars[row.CARRIED] = 1.0
        self._bounds[row.FRICTION] = start_friction(self.robot, self._controller.target)
        self.pause()

    def pause(self) -> None:
        """Forget the motion, such as after the measurements stopped."""
        self.state[row.BEFORE] = np.nan
        self._scalars[row.SAMPLES] = 0.0

    def stop(self, stopping: bool) -> None:
        """Say whether the robot is being braked after a violation, so that it may be over one."""
        self._scalars[row.STOPPING] = float(stopping)

    def swing(self, swings: bool) -> None:
        """Say whether a commissioning swings a joint."""
        self._scalars[row.SWINGS] = float(swings)

    def accept(self, joint: int) -> None:
        """Take a joint as agreed: a commissioning has found its motion right."""
        self.state[row.AGREED, joint] = 1.0

    def check(self, inputs: Array, elapsed: float, torque: Array) -> Trip | None:
        """
        Take in a sample, limit torque (n,) where the start is soft; return a violation.

        :param inputs: (5, n) qr, dqr, ddqr, q and the measured velocity, NaN for none.
        :param elapsed: seconds since the last sample.
        """
        torque_of = self._controller.bound_torque
        kind = supervise(
            torque_of.table, torque_of.flags, self._bounds, self.state, self._scalars, self._event,
            self._history, inputs, elapsed, torque,
        )  # fmt: skip
        if kind == row.FINE:
            return None
        j, value, bound = self._event.tolist()
        return Trip(Kind(kind), self.robot.joint_names[int(j)], value, bound)

    @property
    def agreed(self) -> NDArray[np.bool_]:
        """(n,) whether the motion of a joint has agreed with the model."""
        return self.state[row.AGREED] != 0.0

    @property
    def moved(self) -> NDArray[np.bool_]:
        """(n,) whether a motion of a joint stood out of its noise."""
        return self.state[row.SEEN] != 0.0

    @property
    def trusted(self) -> bool:
        """Whether the motion of every joint that moved has agreed with the model."""
        return bool(np.all(self.agreed | ~self.moved) and np.any(self.agreed))

    @property
    def starting(self) -> NDArray[np.bool_]:
        """(n,) whether the torque of a joint is limited more than by its limit."""
        return self.state[row.ALLOWED] < self._bounds[row.LIMIT]

    @property
    def behind(self) -> NDArray[np.bool_]:
        """(n,) whether a joint that has agreed is where the limited torque of its start let it."""
        return self.state[row.BEHIND] == 1.0

    @property
    def speed(self) -> Array:
        """(n,) the velocity that filter and last sample agree on: zero after a single jump."""
        slow, now = self.state[row.SPEED], self.state[row.CALM_SPEED]
        smaller = np.where(np.abs(slow) < np.abs(now), slow, now)
        return np.where(slow * now > 0.0, smaller, 0.0)

    @property
    def noise(self) -> Array:
        """(n,) standard deviation of the noise of the positions, by their second differences."""
        return np.sqrt(self.state[row.NOISE])

    @property
    def gains(self) -> Array:
        """(n,) motion over what the model predicts where the two vary together, 0 where not."""
        return self.state[row.GAIN_SEEN].copy()

    def history(self) -> Array:
        """(L, 4, n) the last samples, oldest first: position, torque, reference, its velocity."""
        seen, length = int(self._scalars[row.SAMPLES]), len(self._history)
        if seen < length:
            return self._history[1 : seen + 1].copy()
        return np.roll(self._history, -(seen % length) - 1, axis=0)


def start_errors(robot: Robot) -> Array:
    """(n,) how far a joint may leave its reference before it has agreed: rad or m."""
    width = robot.limits.upper - robot.limits.lower
    slide = START_SHARE * np.where(np.isfinite(width), width, USUAL_RANGE)
    prismatic = np.zeros(robot.n, bool)
    prismatic[robot.kinematics.dof[robot.kinematics.prismatic]] = True
    return np.where(prismatic, slide, START_ANGLE)


def start_friction(robot: Robot, chi: Array) -> Array:
    """(n,) friction of the model at the beginning of a motion, 0 where it has none."""
    turning = 1e-6 * np.eye(robot.n)
    still = np.zeros_like(turning)
    change = bias(robot, chi, still, turning) - bias(robot, chi, still, still)
    return np.maximum(np.diagonal(change), 0.0)


def _bounds(robot: Robot, limit: Array, largest_error: Array) -> Array:
    bounds = np.empty((row.BOUND_ROWS, robot.n))
    limits, first = robot.limits, start_errors(robot)
    bounds[row.LOWER] = limits.lower - largest_error
    bounds[row.UPPER] = limits.upper + largest_error
    bounds[row.LARGEST_SPEED] = SPEED_MARGIN * limits.velocity
    bounds[row.LARGEST_ACCELERATION] = ACCELERATION_MARGIN * limits.acceleration
    bounds[row.LARGEST_ERROR] = largest_error
    bounds[row.LIMIT] = limit
    bounds[row.START_ERROR] = np.minimum(first, largest_error)
    bounds[row.START_ACCELERATION] = 2.0 * FIRST_SHARE * first / FIRST_S**2
    return bounds
