"""
Commissioning: each joint in turn gets a small swinging torque, and its answer is compared.

The robot is held where it stands. What a joint answered is told joint by joint (`response`); what
holds all joints against gravity is told at the end (`weight`). A violation ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.torque_control import Command, TorqueControl
from robot_id.control.supervision.probe import SWING_HZ, Probe
from robot_id.control.supervision.response import Response
from robot_id.control.supervision.weight import explain_weight

Array = NDArray[np.float64]
# Motion, measured over predicted, or its inverse, up to which a crude model is allowed.
ALLOWED = 1.5
# Friction over that of the model, or its inverse: by wear and warmth.
FRICTION_ALLOWED = 2.0
# As near to 1 is the factor of a friction that a model knows.
NEAR = 0.25
# Of the gravity of a joint, and of its torque limit: a constant torque that is told.
CONSTANT_SHARE, LEAST_CONSTANT = 0.1, 0.01
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
    :ivar reason: what is wrong with the robot in one line, '' for nothing.
    """

    def __init__(self, control: TorqueControl, joints: Sequence[str] = ()) -> None:
        self._control = control
        names = control.controller.robot.joint_names
        self._left = [names.index(joint) for joint in joints or names]
        self._count = len(self._left)
        self.findings: list[Finding] = []
        self.reason = ''
        self._responses: dict[int, Response] = {}
        # Joints that are held by another torque than the model says.
        self._held: list[str] = []
        control.probe = np.zeros(len(names))
        self._probe = Probe(control, self._left[0])

    @property
    def joint(self) -> str:
        """The joint that is probed, '' at the end."""
        return '' if self.done else self._control.controller.robot.joint_names[self._left[0]]

    @property
    def fraction(self) -> float:
        """Share of the joints that are done."""
        return len(self.findings) / self._count

    @property
    def done(self) -> bool:
        """Whether all joints were probed, or the robot was stopped."""
        return not self._left

    def feed(self, command: Command, position: Array) -> None:
        """Take in what a sample brought, and set the torque of the next one."""
        if self.done:
            return
        if self._control.trip is not None:
            self._control.explain()
            self.reason = self._control.trip.text
            self._add(False, float(self._control.supervisor.gains[self._left[0]]), self.reason)
            self.end()
            return
        self._position = position
        self._probe.feed(command, position)
        if self._probe.done:
            self._judge(self._left[0])
            del self._left[0]
            if not self._left:
                self._judge_all()
                self.end()
                return
            self._probe = Probe(self._control, self._left[0])
        assert self._control.probe is not None
        self._control.probe[:] = 0.0
        self._control.probe[self._left[0]] = self._probe.torque

    def end(self) -> None:
        """Probe no more."""
        self._left.clear()
        self._control.probe = None

    def _add(self, agrees: bool, gain: float, text: str) -> None:
        probe, supervisor = self._probe, self._control.supervisor
        moved = probe.moved or bool(supervisor.moved[probe.joint])
        name = self._control.controller.robot.joint_names[probe.joint]
        torque, motion = probe.largest_torque, probe.largest_motion
        self.findings.append(Finding(name, moved, agrees, gain, torque, motion, text))

    def _judge(self, j: int) -> None:
        """Say what a joint answered; one that answered rightly needs no soft start."""
        answer, supervisor = self._probe.response(), self._control.supervisor
        self._responses[j] = answer
        moves = bool(np.isfinite(answer.inertia)) and answer.inertia != 0.0
        told = moves or bool(np.isfinite(answer.friction))
        gain = 1.0 / answer.inertia if moves else float(supervisor.gains[j])
        wrong = self._wrong(j, answer, gain)
        if not wrong and ((told and self._probe.moved) or supervisor.agreed[j]):
            supervisor.accept(j)
            hidden = told and not moves
            said = 'its friction agrees with the model and hides its inertia'
            self._add(True, gain, said if hidden else 'agrees with the model')
            return
        does_not_move = 'it does not move: brake or stiction?'
        moved = self._probe.moved or supervisor.moved[j]
        self._add(False, gain, wrong or ('its motion does not tell' if moved else does_not_move))

    def _wrong(self, j: int, answer: Response, gain: float) -> str:
        """Return what is wrong with the answer of a joint, '' for nothing."""
        if self._late(answer):
            late = 1e3 * answer.delay_s
            return f'its torque lags by about {late:.0f} ms: a lower bandwidth is needed'
        moves, rub = bool(np.isfinite(answer.inertia)), answer.friction
        rubs = bool(np.isfinite(rub)) and not moves
        if rubs and not 1.0 / FRICTION_ALLOWED <= rub <= FRICTION_ALLOWED:
            return (
                f'its friction is {rub:.2g} times that of the model: check the scale of its torque'
            )
        if moves and gain < 0.0:
            return (
                f'it moves against its torque ({gain:.2g} times the motion that the model '
                'predicts): its sign is reversed, of its position or of its torque'
            )
        if moves and not 1.0 / ALLOWED <= gain <= ALLOWED:
            return self._factor(gain, answer.friction)
        limit = self._control.controller.settings.limit[j]
        least = max(CONSTANT_SHARE * abs(answer.gravity), LEAST_CONSTANT * min(limit, 1e9))
        if abs(answer.constant) > least:
            self._held.append(self._control.controller.robot.joint_names[j])
            return (
                f'it is held by {answer.gravity + answer.constant:.3g}, the model says '
                f'{answer.gravity:.3g}: zero of a joint, a load, or weight that the robot carries'
            )
        return ''

    @staticmethod
    def _late(answer: Response) -> bool:
        told = np.isfinite(answer.inertia) or np.isfinite(answer.friction)
        return bool(told) and answer.delay_s * SWING_HZ > LATE

    @staticmethod
    def _factor(gain: float, friction: float) -> str:
        """Say what moves a joint by a wrong factor: its friction shows a torque, or not."""
        what = 'scale of its torque, gear ratio and unit'
        if abs(friction - 1.0) < NEAR:
            what = 'gear ratio and unit of its position'
        elif abs(friction * gain - 1.0) < NEAR:
            what = 'scale of its torque'
        return f'it moves {gain:.2g} times as the model predicts: check the {what}, and the model'

    def _judge_all(self) -> None:
        """Say what explains the weights of all joints, and which finding is the worst."""
        bad = [each for each in self.findings if not each.agrees]
        if not bad:
            return
        # A torque that acts late makes all the rest doubtful.
        names = self._control.controller.robot.joint_names
        late = [each for each in bad if self._late(self._responses[names.index(each.joint)])]
        worst = max(
            late or bad, key=lambda each: abs(np.log(abs(each.gain))) if each.gain else 0.0
        )
        self.reason = f"joint '{worst.joint}': {worst.text}"
        if worst.joint in self._held:
            self._explain()

    def _explain(self) -> None:
        """Say what explains the torques that hold the joints where the model says others."""
        controller = self._control.controller
        robot, constant = controller.robot, np.full(controller.robot.n, np.nan)
        for j, answer in self._responses.items():
            constant[j] = answer.constant
        found = explain_weight(
            robot, controller.target, self._position, constant, controller.settings.limit
        )
        if found:
            self.reason = ' or '.join(each.text for each in found)
            name = robot.joint_names[found[0].joint]
            self.findings = [
                replace(each, agrees=False, text=self.reason) if each.joint == name else each
                for each in self.findings
            ]
