"""The rows of the table in one process, without a clock: the same robots, mistakes and logic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from plants.free_mechanics import TICK_S, Settings
from plants.wired_arm import WiredArm

from commissioning.motion import motion_of
from commissioning.robots import RATE_HZ, Prepared
from commissioning.rows import HOLD_S, MOVE_S, Row, wiring_of
from commissioning.seen import Seen
from robot_id.control import ComputedTorque
from robot_id.control.runtime.torque_control import TorqueControl
from robot_id.control.supervision.commissioning import Commissioning
from robot_id.control.supervision.start_rate import StartRate
from robot_id.control.supervision.supervisor import Kind, Trip
from robot_id.methods.result import Result
from robot_id.robot import load_robot

Array = NDArray[np.float64]
SOFT_START_S, LOST_S, GAP_S = 0.5, 0.02, 0.05
COMMISSION_S = 60.0


class Bench:
    """
    An arm and its controller, tick by tick.

    :param joint: where the mistake is planted, None for that of the machine.
    :param late_s: from a joint state to the torque that answers it.
    """

    def __init__(
        self, prepared: Prepared, mistake: str, joint: int | None = None, late_s: float = 1e-3
    ) -> None:
        wrong = mistake == 'wrong robot file'
        file = prepared.wrong_file if wrong else prepared.robot_file
        model = prepared.wrong_model if wrong else prepared.model
        self.prepared, self.robot = prepared, load_robot(file)
        law = ComputedTorque(self.robot, Result.load(model).values, 'learning')
        self.control = TorqueControl(law, LOST_S, GAP_S, soft_start_s=SOFT_START_S)
        self.rate = StartRate(RATE_HZ)
        self.arm = WiredArm(Settings.read(prepared.settings))
        wiring = wiring_of(mistake, prepared, joint)
        assert wiring is not None
        self.arm.restart(wiring)
        self.work: Commissioning | None = None
        self._late, self._answers = round(late_s / TICK_S), list[tuple[int, Array]]()
        self.motion = None
        self._zero_s, self._first, self._measured = 0.0, np.zeros(self.robot.n), np.zeros(0)

    def run(self, seconds: float) -> None:
        """Go on for some seconds, or until a commissioning is done."""
        until = self.arm.ticks + round(seconds / TICK_S)
        stays = round(0.3 / TICK_S)
        while self.arm.ticks < until and stays:
            stays -= self.control.stopped or (self.work is not None and self.work.done)
            measured = self.arm.tick()
            while self._answers and self._answers[0][0] <= self.arm.ticks:
                self.arm.command(self._answers.pop(0)[1])
            if measured is None:
                continue
            self._measured = measured.position
            ns = round(1e9 * (1.0 + measured.time_s))
            if not self.control.stopped:
                if not self.rate.feed(ns):
                    continue
                if not self.rate.right:
                    joint = self.robot.joint_names[0]
                    rate = self.rate
                    self.control.refuse(Trip(Kind.RATE, joint, rate.seen_hz, rate.wanted_hz))
            if self.motion is not None:
                t = measured.time_s - self._zero_s
                point = np.array(self.motion.sample(np.array([max(t, 0.0)])))[:, 0]
                point[0] += self._first
                self.control.references.put(ns, point)
            command = self.control.step(ns, measured.position, measured.velocity)
            self.control.explain()
            if self.work is not None:
                self.work.feed(command, measured.position)
            self._answers.append((self.arm.ticks + self._late, command.torque.copy()))

    def move(self) -> None:
        """Begin the motion where the robot says that it is."""
        self.motion, self._zero_s = motion_of(self.prepared), self.arm.ticks * TICK_S
        self._first = self._measured - np.array(self.prepared.machine.start)


def measure(
    prepared: Prepared, mistake: str, way: str, joint: int | None = None, late_s: float = 1e-3
) -> Row:
    """Make a mistake, activate the controller, and do something with the robot."""
    bench = Bench(prepared, mistake, joint, late_s)
    control, named = bench.control, ''
    bench.run(HOLD_S)
    if way == 'commission' and not control.stopped:
        control.supervisor.restart(held=True)
        bench.work = Commissioning(control)
        bench.run(COMMISSION_S)
        named = bench.work.reason
    elif way == 'move' and not control.stopped:
        bench.move()
        bench.run(MOVE_S)
    trip = control.trip
    stopped = bool(named) or trip is not None
    named = named or control.reason or bench.rate.jitter
    seen = Seen.of({**bench.arm.seen.figures(), 'braked': bench.arm.braked})
    return Row.of(
        prepared, seen, mistake, way, named, stopped,
        trip.kind.name.lower() if trip else 'none', trip.joint if trip else '',
    )  # fmt: skip
