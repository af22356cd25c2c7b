"""
Commissioning: each joint in turn gets a small swinging torque, and its motion is compared.

The robot is held where it stands. The torque on a joint grows until its motion agrees with the
model, a violation stops the robot, or the torque of a soft start is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.torque_control import Command, TorqueControl

Array = NDArray[np.float64]
# A swing within the bandwidth of most loops, that moves a joint by little.
SWING_HZ = 8.0
# Seconds in which the torque grows, for which it stays, and of rest before the next joint.
GROW_S, STAY_S, REST_S = 1.0, 0.5, 0.2
# Measured over predicted motion that needs no word.
FIRST_GAIN, LAST_GAIN = 0.5, 2.0


@dataclass(frozen=True)
class Finding:
    """
    What was found at a joint.

    :param moved: whether it moved; `agrees` whether as the model predicts.
    :param gain: measured over predicted motion, 0 where it is not known.
    :param largest_torque: sent beyond the first one, `largest_motion` measured.
    :param text: in words.
    """

    joint: str
    moved: bool
    agrees: bool
    gain: float
    largest_torque: float
    largest_motion: float
    text: str


class Commissioning:
    """
    Probes joints one after the other, sample by sample.

    :param control: of a robot at rest that is held, after `restart`.
    :param joints: names, in order; empty for all.
    :ivar findings: so far.
    """

    def __init__(self, control: TorqueControl, joints: Sequence[str] = ()) -> None:
        self._control = control
        robot = control.controller.robot
        self._left = list(joints or robot.joint_names)
        self._count = len(self._left)
        self.findings: list[Finding] = []
        limit = control.controller.settings.limit
        share = control.supervisor.start_share
        self._most = np.where(np.isfinite(limit), share * limit, 1.0)
        self._probe = np.zeros(robot.n)
        self._time = -REST_S
        self._first: tuple[Array, Array] | None = None
        self._torque = self._motion = 0.0
        control.probe = self._probe

    @property
    def joint(self) -> str:
        """The joint that is probed, '' at the end."""
        return self._left[0] if self._left else ''

    @property
    def fraction(self) -> float:
        """Share of the joints that are done."""
        return len(self.findings) / max(self._count, 1)

    @property
    def done(self) -> bool:
        """Whether all joints were probed, or the robot was stopped."""
        return not self._left

    def feed(self, command: Command, position: Array) -> None:
        """Take in what a sample brought, and set the torque of the next one."""
        if self.done:
            return
        control = self._control
        j = control.controller.robot.joint_names.index(self._left[0])
        if control.stopped:
            control.explain()
            self._find(j, agrees=False)
            self._left.clear()
            control.probe = None
            return
        if self._first is None:
            self._first = command.torque.copy(), position.copy()
        self._torque = max(self._torque, abs(command.torque[j] - self._first[0][j]))
        self._motion = max(self._motion, abs(position[j] - self._first[1][j]))
        self._time += control.controller.period
        if control.supervisor.agreed[j] and self._time > 0.0:
            self._find(j, agrees=True)
        elif self._time > GROW_S + STAY_S:
            self._find(j, agrees=False)
        swing = np.sin(2.0 * np.pi * SWING_HZ * max(self._time, 0.0))
        self._probe[j] = self._most[j] * min(max(self._time, 0.0) / GROW_S, 1.0) * swing

    def end(self) -> None:
        """Probe no more."""
        self._left.clear()
        self._control.probe = None

    def _find(self, j: int, agrees: bool) -> None:
        supervisor, trip = self._control.supervisor, self._control.trip
        gain, moved = float(supervisor.gains[j]), bool(supervisor.moved[j])
        name = self._left.pop(0)
        if trip is not None:
            text = trip.text
        elif not agrees:
            text = 'its motion does not tell' if moved else 'it does not move: brake or stiction?'
        elif FIRST_GAIN <= gain <= LAST_GAIN:
            text = 'agrees with the model'
        else:
            text = f'moves {gain:.2g} times as the model predicts: check the model and drive gain'
        self.findings.append(Finding(name, moved, agrees, gain, self._torque, self._motion, text))
        self._probe[j] = 0.0
        self._time, self._first = -REST_S, None
        self._torque = self._motion = 0.0
        if not self._left:
            self._control.probe = None
