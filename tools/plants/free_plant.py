"""
A robot on MuJoCo as a process, in real time and waiting for nobody.

Usage: python free_plant.py SETTINGS.json [--ros-args ...]

It publishes `joint_states` and takes `effort_commands` at its own pace, with hard stops off, and
tells on `plant/status` (std_msgs/String, JSON) the largest torque, speed and motion so far. Its
drives limit the torque and its brakes close without one (wired_arm.py). A text on `plant/wiring`
puts it back to its start,
wired otherwise (wiring.py); after a `+` the wiring changes where it stands; an empty text lets it
forget the largest values.

Its time is that of a steady clock, but for stalls of this process: lost time is not simulated, but
counted. Where it is permitted it runs with a real-time priority.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from plants.free_mechanics import TICK_S, Settings  # noqa: E402
from plants.wired_arm import Measured, WiredArm  # noqa: E402
from plants.wiring import Wiring  # noqa: E402

STATUS_S = 0.05
# Of SCHED_FIFO, above that of a controller.
PRIORITY = 30
# States without an answer, after which a controller is taken for stalled.
UNANSWERED = 3
# Further behind than this the process was not run: that time is skipped. Less is caught up.
STALL_S = 1e-2


class FreePlant:
    """The process: topics and time of an arm."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._arm = settings, WiredArm(settings)
        self._node = rclpy.create_node('free_plant')
        self._states = self._node.create_publisher(JointState, 'joint_states', 10)
        self._status = self._node.create_publisher(String, 'plant/status', 10)
        self._commands = self._node.create_subscription(
            Float64MultiArray, 'effort_commands', lambda _: None, 10
        )
        self._wirings = self._node.create_subscription(String, 'plant/wiring', lambda _: None, 10)
        self._number = self._cleared = 0
        self._epoch_ns = time.time_ns()
        self._gave_up = False
        self._node.get_logger().info('ready')

    def run(self) -> None:
        """Run until the process is ended."""
        arm, start, lost, told = self._arm, time.perf_counter(), 0.0, 0
        while True:
            behind = time.perf_counter() - start - lost - arm.ticks * TICK_S
            if behind < 0.0:
                time.sleep(min(-behind, TICK_S))
                continue
            if behind > STALL_S:
                lost += behind
                arm.seen.stalls += 1
                arm.seen.stall_s = max(arm.seen.stall_s, behind)
            self._hear()
            lost += self._wait()
            measured = arm.tick()
            if measured is not None:
                self._publish(measured)
            if arm.ticks - told >= STATUS_S / TICK_S:
                told = arm.ticks
                self._tell()

    def _wait(self) -> float:
        """Wait for a controller that is stalled; return the seconds."""
        arm = self._arm
        if arm.heard is None or self._gave_up:
            return 0.0
        if arm.ticks - arm.heard <= (UNANSWERED + 1) * arm.every:
            return 0.0
        begun = time.perf_counter()
        seen, answers = arm.seen, arm.seen.commands
        while (waited := time.perf_counter() - begun) < self._settings.patience_s:
            time.sleep(TICK_S)
            self._hear()
            if arm.seen is not seen or seen.commands != answers:
                break
        else:
            self._gave_up = True
        arm.seen.waits += 1
        arm.seen.wait_s = max(arm.seen.wait_s, waited)
        return waited

    def _hear(self) -> None:
        arm, joints = self._arm, self._settings.joints
        for message in _taken(self._wirings):
            text = message.data
            if not text:
                self._cleared += 1
                arm.forget()
                continue
            self._number += 1
            if text.startswith('+'):
                arm.wire(Wiring.from_json(text[1:]))
            else:
                arm.restart(Wiring.from_json(text))
        for message in _taken(self._commands):
            label = message.layout.dim[-1].label if message.layout.dim else ''
            values = dict(zip(label.split(',') if label else joints, message.data))
            arm.command(np.array([values[name] for name in joints]))
            self._gave_up = False

    def _publish(self, measured: Measured) -> None:
        message = JointState(name=list(self._settings.joints))
        message.position, message.effort = measured.position.tolist(), measured.effort.tolist()
        if measured.velocity is not None:
            message.velocity = measured.velocity.tolist()
        ns = self._epoch_ns + round(1e9 * measured.time_s)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
        self._states.publish(message)

    def _tell(self) -> None:
        about = {'wiring': self._number, 'cleared': self._cleared, 'braked': self._arm.braked}
        self._status.publish(String(data=json.dumps({**about, **self._arm.seen.figures()})))


def _taken(subscription: Any) -> list[Any]:
    """Return all messages that have come; no executor is needed for that."""
    found = []
    while True:
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        if taken is None:
            return found
        found.append(taken[0])


def main() -> None:
    """Run until Ctrl-C."""
    rclpy.init()
    plant = FreePlant(Settings.read(Path(sys.argv[1])))
    with contextlib.suppress(OSError):
        for task in Path('/proc/self/task').iterdir():
            os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(PRIORITY))
    with contextlib.suppress(KeyboardInterrupt):
        plant.run()


if __name__ == '__main__':
    main()
