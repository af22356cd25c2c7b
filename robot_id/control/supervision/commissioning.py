"""
Commissioning: each joint in turn gets a small swinging torque, and its motion is compared.

The robot is held where it stands. The torque on a joint grows until its motion agrees with the
model, a violation stops the robot, or the torque of a soft start is reached. Then some whole
swings are recorded, and what the joint answered is told (`response`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.torque_control import Command, TorqueControl
from robot_id.control.supervision.response import LONGEST_DELAY_S, Response, respond

Array = NDArray[np.float64]
# A swing within the bandwidth of most loops, that moves a joint by little.
SWING_HZ = 8.0
# Seconds in which the torque grows, for which it stays, and of rest before the next joint.
GROW_S, STAY_S, REST_S = 1.0, 0.5, 0.2
# Whole swings that are recorded, after one that lets the motion settle.
SWINGS = 4
# Motion, measured over predicted, or its inverse, up to which a crude model is allowed.
ALLOWED = 1.5
# As near to 1 is the factor of a friction that a model knows.
NEAR = 0.25
# Of the gravity of a joint, and of its torque limit: a constant torque that is told.
CONSTANT_SHARE, LEAST_CONSTANT = 0.1, 0.01
# Shares of the gravity of the model in the constants of a robot that carries itself.
CARRIED = (0.5, 1.5)
# The shortest delay that is told, in swings: 10 ms.
LATE = 0.08


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
        self._rows: list[tuple[Array, Array]] | None = None
        self._force = 0.0
        self._responses: dict[int, Response] = {}
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
        agreed = bool(control.supervisor.agreed[j])
        if self._rows is not None:
            self._rows.append((position.copy(), command.torque.copy()))
            if len(self._rows) * control.controller.period >= (SWINGS + 1.0) / SWING_HZ:
                self._respond(j)
                self._find(j, agrees=agreed)
        elif (agreed and self._time > 0.0) or self._time > GROW_S:
            self._rows = []
        t = max(self._time, 0.0)
        if self._rows is None:
            self._force = self._most[j] * min(t / GROW_S, 1.0)
        if self._left and self._left[0] == control.controller.robot.joint_names[j]:
            self._probe[j] = self._force * np.sin(2.0 * np.pi * SWING_HZ * t)

    def _respond(self, j: int) -> None:
        """Fit what the joint answered in the last whole swings."""
        assert self._rows is not None
        controller = self._control.controller
        q, tau = (np.array(rows) for rows in zip(*self._rows))
        # The first part, at least as long as the longest delay, is for the delay alone.
        lead = round(LONGEST_DELAY_S / controller.period) + 1
        count = round(SWINGS / (SWING_HZ * controller.period)) + lead
        self._responses[j] = respond(
            controller.robot, controller.target, j, q[-count:], tau[-count:],
            controller.period, SWING_HZ,
        )  # fmt: skip

    def end(self) -> None:
        """Probe no more."""
        self._left.clear()
        self._control.probe = None

    def _find(self, j: int, agrees: bool) -> None:
        supervisor, trip = self._control.supervisor, self._control.trip
        moved = bool(supervisor.moved[j])
        name, answer = self._left.pop(0), self._responses.get(j)
        told = answer is not None and np.isfinite(answer.inertia) and answer.inertia != 0.0
        gain = 1.0 / answer.inertia if told and answer is not None else float(supervisor.gains[j])
        wrong = self._wrong(j, answer) if answer is not None else ''
        if trip is not None:
            text = trip.text
        elif wrong:
            text, agrees = wrong, False
        elif not agrees:
            text = 'its motion does not tell' if moved else 'it does not move: brake or stiction?'
        else:
            text = 'agrees with the model'
        self.findings.append(Finding(name, moved, agrees, gain, self._torque, self._motion, text))
        self._probe[j] = 0.0
        self._time, self._first, self._rows = -REST_S, None, None
        self._torque = self._motion = 0.0
        if not self._left:
            self._control.probe = None
            if trip is None:
                self._judge_gravity()

    def _wrong(self, j: int, answer: Response) -> str:
        """Return what is wrong with the answer of a joint, '' for nothing."""
        if answer.delay_s * SWING_HZ > LATE and np.isfinite(answer.inertia):
            late = 1e3 * answer.delay_s
            return f'its torque acts about {late:.0f} ms late: a lower bandwidth is needed'
        gain = 1.0 / answer.inertia if answer.inertia else np.nan
        if np.isfinite(gain) and not 1.0 / ALLOWED <= gain <= ALLOWED:
            return self._factor(gain, answer.friction)
        limit = self._control.controller.settings.limit[j]
        least = max(CONSTANT_SHARE * abs(answer.gravity), LEAST_CONSTANT * min(limit, 1e9))
        if abs(answer.constant) > least:
            return (
                f'it is held by {answer.gravity + answer.constant:.3g}, the model says '
                f'{answer.gravity:.3g}: zero of a joint, a load, or weight that the robot carries'
            )
        return ''

    @staticmethod
    def _factor(gain: float, friction: float) -> str:
        """Say what moves a joint by a wrong factor: its friction shows a torque, or not."""
        what = 'scale of its torque, gear ratio and unit'
        if abs(friction - 1.0) < NEAR:
            what = 'gear ratio and unit of its position'
        elif abs(friction * gain - 1.0) < NEAR:
            what = 'scale of its torque'
        return f'it moves {gain:.2g} times as the model predicts: check the {what}, and the model'

    def _judge_gravity(self) -> None:
        """Say where the constants are the gravity of the model, with the other sign."""
        limit = self._control.controller.settings.limit
        c = np.array([r.constant / limit[j] for j, r in self._responses.items()])
        g = np.array([r.gravity / limit[j] for j, r in self._responses.items()])
        weight = float(g @ g)
        if not weight > LEAST_CONSTANT**2:
            return
        share = float(-(c @ g) / weight)
        if not CARRIED[0] < share < CARRIED[1]:
            return
        names = self._control.controller.robot.joint_names
        heavy = names[list(self._responses)[int(np.argmax(np.abs(g)))]]
        for i, each in enumerate(self.findings):
            if each.joint == heavy:
                text = f'the robot carries {share:.0%} of its gravity: take it out of the model'
                self.findings[i] = replace(each, agrees=False, text=text)
