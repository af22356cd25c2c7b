"""A robot under the supervised controller in free-running time, with a mistake of the set-up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robot_id.control import ComputedTorque
from robot_id.control.runtime.torque_control import TorqueControl
from robot_id.dynamics import Disturbances, Plant
from robot_id.dynamics.inverse import bias
from robot_id.robot import load_robot
from robot_id.trajectory import Quintic

RATE = 1000


@dataclass
class SupervisedRun:
    """
    What happened until the robot was stopped, or to the end.

    :param seen: (n, n) what the driver reports: seen @ true positions.
    :param move: (n,) there and back in the time.
    :param carried: whether the robot compensates its gravity.
    :param delay: samples by which the torque is late.
    """

    name: str
    start: tuple = ()
    move: tuple = ()
    seen: np.ndarray | None = None
    model: str = 'truth'
    seconds: float = 1.0
    carried: bool = False
    delay: int = 0
    options: dict = field(default_factory=dict)

    def __post_init__(self):
        robot = self.robot = load_robot(self.name)
        n, zero = robot.n, np.zeros(robot.n)
        chi = robot.truth() if self.model == 'truth' else robot.a_priori()
        loop = robot.loop('learning').model_copy(update={'rate_hz': RATE})
        self.control = control = TorqueControl(
            ComputedTorque(robot, chi, loop), 0.02, 0.05, soft_start_s=0.5, **self.options
        )
        start = np.array(self.start or zero, float)
        seen = np.eye(n) if self.seen is None else self.seen
        noise = Disturbances.of_robot(robot, 1)
        plant = Plant(robot, robot.truth(), start, rate_hz=RATE, disturbances=noise)
        reference = self._reference(seen @ start)
        late = [zero] * self.delay
        self.angle, self.torque, self.stopped_after = zero, zero, 0.0
        for k in range(round(self.seconds * RATE)):
            ns = round(1e9 * k / RATE)
            if reference is not None:
                control.references.put(ns, reference[:, k])
            measured = seen @ plant.measured
            command = control.step(ns, measured)
            if control.stopped:
                self.stopped_after = k / RATE
                control.explain()
                break
            gravity = bias(robot, chi, measured, zero)
            beyond = np.abs(command.torque) - np.abs(gravity)
            self.torque = np.maximum(self.torque, np.where(control.supervisor.agreed, 0, beyond))
            late.append(command.torque)
            own = bias(robot, robot.truth(), plant.position, zero) if self.carried else zero
            plant.advance(late.pop(0) + own)
            self.angle = np.maximum(self.angle, np.abs(plant.position - start))

    def _reference(self, start):
        if not self.move:
            return None
        way = Quintic([start, start + self.move, start], self.seconds / 2, periodic=True)
        return np.array(way.sample(np.arange(round(self.seconds * RATE)) / RATE))

    @property
    def trip(self):
        return self.control.trip
