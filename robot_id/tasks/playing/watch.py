"""Reasons to stop a robot on a plan, from one joint state to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_id.tasks.playing.executed_time import ExecutedTime
from robot_id.tasks.playing.plan import Plan
from robot_id.trajectory.trajectory import Array

# Joint states in a row with too large an effort: one alone may be a spike of the sensor.
EFFORT_SAMPLES = 3


@dataclass(frozen=True)
class Bounds:
    """
    What a robot may do on a plan.

    :param tracking_error: rad or m, largest between reference and position.
    :param effort: (n,) limits, infinite where none is known.
    :param effort_share: largest share of them.
    :param stall_s: longest time without advance along the plan.
    """

    tracking_error: float
    effort: Array
    effort_share: float
    stall_s: float


@dataclass(frozen=True)
class Told:
    """
    What a controller tells of itself, both of one moment.

    Joint states come at other moments: between them and a reference lies what the joint moves in
    that time, which is no tracking error.

    :param reference: (n,) that it follows.
    :param position: (n,) that it has measured.
    """

    reference: Array
    position: Array


class Watch:
    """
    Follows a robot along one plan.

    :ivar executed: seconds into the plan that it has come.
    :ivar tracking_error: largest so far, of joint number `tracking_joint`.
    :ivar effort_share: largest share of an effort limit so far, of joint number `effort_joint`.
    :ivar executed_s: seconds that the robot took for the motion itself, so far.
    """

    def __init__(self, plan: Plan, bounds: Bounds, joint_names: tuple[str, ...]) -> None:
        self.plan, self._bounds, self._names = plan, bounds, joint_names
        self._executed = ExecutedTime(plan.whole)
        self.tracking_error, self.tracking_joint = 0.0, 0
        self.effort_share, self.effort_joint = 0.0, 0
        self._efforts = 0
        self._advanced = 0.0
        self._begun: float | None = None
        self.executed_s = 0.0
        self.last_elapsed = 0.0

    @property
    def executed(self) -> float:
        """Seconds into the plan."""
        return self._executed.value

    @property
    def arrived(self) -> bool:
        """Whether the end of the plan is reached."""
        return self._executed.value >= self.plan.whole.duration - 1e-9

    def predicted(self, elapsed: float) -> float:
        """Return the executed time at a moment after the last joint state, at the last rate."""
        seen = max(self.last_elapsed, 1e-3)
        recent = min(self._executed.value / seen, 1.0) if self._executed.value else 1.0
        return self._executed.value + recent * max(elapsed - self.last_elapsed, 0.0)

    def feed(
        self, elapsed: float, position: Array, effort: Array, told: Told | None = None
    ) -> str:
        """
        Take in a joint state; return why the robot must stop, '' where it need not.

        :param elapsed: seconds since the controller got the plan.
        :param told: by the controller, None where it does not tell.
        """
        before = self._executed.value
        executed = self._executed.update(elapsed, position if told is None else told.reference)
        self.last_elapsed = elapsed
        if executed > before:
            self._advanced = elapsed
        if self._begun is None and executed >= self.plan.begin:
            self._begun = elapsed
        if self._begun is not None and before < self.plan.end:
            self.executed_s = elapsed - self._begun
        told = told or Told(self.plan.whole.sample(executed)[0], position)
        return (
            self._by_error(np.abs(told.reference - told.position))
            or self._by_effort(np.abs(effort) / self._bounds.effort)
            or self._by_stall(elapsed)
        )

    def _by_error(self, error: Array) -> str:
        j = int(np.argmax(error))
        if error[j] > self.tracking_error:
            self.tracking_error, self.tracking_joint = float(error[j]), j
        if error[j] <= self._bounds.tracking_error:
            return ''
        return (
            f"joint '{self._names[j]}' is {error[j]:.3g} away from its reference, "
            f'largest_tracking_error is {self._bounds.tracking_error:g}'
        )

    def _by_effort(self, share: Array) -> str:
        j = int(np.argmax(share))
        if share[j] > self.effort_share:
            self.effort_share, self.effort_joint = float(share[j]), j
        self._efforts = self._efforts + 1 if share[j] > self._bounds.effort_share else 0
        if self._efforts < EFFORT_SAMPLES:
            return ''
        return (
            f"joint '{self._names[j]}' needs {100 * share[j]:.0f} % of its effort limit, "
            f'largest_effort_share is {self._bounds.effort_share:g}'
        )

    def _by_stall(self, elapsed: float) -> str:
        waited = elapsed - self._advanced
        if self.arrived or waited <= self._bounds.stall_s:
            return ''
        return (
            f'the robot has not advanced along the motion for {waited:.1f} s (at '
            f'{self.executed:.1f} of {self.plan.whole.duration:.1f} s): the controller has not '
            'taken the trajectory, is paused, or the robot is blocked'
        )
