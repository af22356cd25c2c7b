"""The small swinging torque on one joint of a commissioning, and the recording of its answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.torque_control import Command, TorqueControl
from robot_id.control.supervision.response import LONGEST_DELAY_S, Response, respond
from robot_id.control.supervision.supervisor import start_errors, start_friction
from robot_id.dynamics.inverse import inertia_matrix

Array = NDArray[np.float64]
# A swing within the bandwidth of most loops, that moves a joint by little.
SWING_HZ = 8.0
# Seconds in which the torque grows, and of rest before.
GROW_S, REST_S = 2.0, 0.2
# A clear swing: a share of what a start may move, standard deviations of the position's noise, and
# an inertial torque that is a share of the friction of the model; never wider than another share.
CLEAR_SHARE, CLEAR_SIGMAS, CLEAR_INERTIA, WIDEST_SHARE = 0.1, 30.0, 0.5, 0.4
# Largest torque on a joint without a torque limit [N.m or N].
USUAL_TORQUE = 1.0
# Whole swings that are recorded, after one that lets the motion settle.
SWINGS = 4


class Probe:
    """
    Probes one joint, sample by sample: its torque grows until the joint swings clearly, no further
    than a start may take, and stays while whole swings are recorded.

    :param control: of a robot that is held.
    :param joint: its index.
    :ivar torque: to be added in the next sample [N.m or N].
    :ivar moved: whether it swings clearly; `done` whether all was recorded.
    :ivar largest_torque: sent beyond the first one, `largest_motion` measured.
    """

    def __init__(self, control: TorqueControl, joint: int) -> None:
        self._control, self.joint = control, joint
        self._period = control.controller.period
        limit = float(control.controller.settings.limit[joint])
        self._most = control.supervisor.start_share * limit if limit < np.inf else USUAL_TORQUE
        self._least = 0.0
        self._swing = round(1.0 / (SWING_HZ * self._period))
        self._samples: list[tuple[Array, Array]] = []
        self._grown: int | None = None
        self._force = self.torque = self.largest_torque = self.largest_motion = 0.0
        self.moved = self.done = False

    def feed(self, command: Command, position: Array) -> None:
        """Take in a sample, and set the torque of the next one."""
        j, samples = self.joint, self._samples
        samples.append((position.copy(), command.torque.copy()))
        first = samples[0]
        self.largest_torque = max(self.largest_torque, abs(command.torque[j] - first[1][j]))
        self.largest_motion = max(self.largest_motion, abs(position[j] - first[0][j]))
        t = len(samples) * self._period - REST_S
        if t <= 0.0:
            self._least = self._clear(position)
            return
        if self._grown is None:
            width = np.ptp([q[j] for q, _ in samples[-self._swing :]])
            self.moved = bool(width > self._least)
            self._force = self._most * min(t / GROW_S, 1.0)
            if self.moved or t > GROW_S:
                self._grown = len(samples)
        elif len(samples) - self._grown >= (SWINGS + 1) * self._swing:
            self.done, self._force = True, 0.0
        self.torque = self._force * float(np.sin(2.0 * np.pi * SWING_HZ * t))

    def _clear(self, position: Array) -> float:
        """Return how wide a clear swing is: twice its amplitude [rad or m]."""
        controller, j = self._control.controller, self.joint
        robot, chi = controller.robot, controller.target
        inertia = float(inertia_matrix(robot, chi, position)[j, j])
        friction = float(start_friction(robot, chi)[j])
        shown = 2.0 * CLEAR_INERTIA * friction / (inertia * (2.0 * np.pi * SWING_HZ) ** 2)
        noise = CLEAR_SIGMAS * float(self._control.supervisor.noise[j])
        start = float(start_errors(robot)[j])
        return min(max(CLEAR_SHARE * start, noise, shown), WIDEST_SHARE * start)

    def response(self) -> Response:
        """Return what the joint answered in the last whole swings."""
        controller = self._control.controller
        q, tau = (np.array(rows) for rows in zip(*self._samples))
        # The first part, at least as long as the longest delay, is for the delay alone.
        lead = round(LONGEST_DELAY_S / self._period) + 1
        count = round(SWINGS / (SWING_HZ * self._period)) + lead
        return respond(
            controller.robot, controller.target, self.joint, q[-count:], tau[-count:],
            self._period, SWING_HZ,
        )  # fmt: skip
