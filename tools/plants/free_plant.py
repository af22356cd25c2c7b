"""
A robot on MuJoCo as a process, in real time and waiting for nobody.

Usage: python free_plant.py SETTINGS.json [--ros-args ...]

It publishes `joint_states` and takes `effort_commands` at its own pace, with hard stops off, and
tells on `plant/status` (std_msgs/String, JSON) the largest torque, speed and motion so far. Its
drives limit the torque; its brakes open with the first torque and close when no torque was wanted
for `BRAKE_S`, as they do when commands stop. A text on `plant/wiring` puts it back to its start,
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
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from plants.free_mechanics import TICK_S, Extremes, Mechanics, Settings  # noqa: E402
from plants.wiring import Wiring  # noqa: E402

Array = NDArray[np.float64]
STATUS_S = 0.05
# Of SCHED_FIFO, above that of a controller.
PRIORITY = 30
# Without a torque for so long the brakes close.
BRAKE_S = 0.1
# States without an answer, after which a controller is taken for stalled.
UNANSWERED = 3
# Further behind than this the process was not run: that time is skipped. Less is caught up.
STALL_S = 1e-2


class FreePlant:
    """The process: topics, time, drives and brakes."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._arm = settings, Mechanics(settings)
        self._node = rclpy.create_node('free_plant')
        self._states = self._node.create_publisher(JointState, 'joint_states', 10)
        self._status = self._node.create_publisher(String, 'plant/status', 10)
        self._commands = self._node.create_subscription(
            Float64MultiArray, 'effort_commands', lambda _: None, 10
        )
        self._wirings = self._node.create_subscription(String, 'plant/wiring', lambda _: None, 10)
        self._rng = np.random.default_rng(0)
        self._number = self._cleared = 0
        self._epoch_ns = time.time_ns()
        self._ticks = 0
        self._restart(Wiring())
        self._node.get_logger().info('ready')

    def _restart(self, wiring: Wiring) -> None:
        self._wire(wiring)
        self._arm.reset()
        self._seen = Extremes(self._arm.q.copy())
        self._wanted = np.zeros(len(self._settings.joints))
        self._heard: int | None = None
        self._braked, self._quiet, self._gave_up = True, 0, False

    def _wire(self, wiring: Wiring) -> None:
        n, s = len(self._settings.joints), self._settings
        self._wiring = wiring
        self._factor = np.array(wiring.position_factor or (1.0,) * n)
        self._offset = np.array(wiring.position_offset or (0.0,) * n)
        self._order = list(wiring.order or range(n))
        self._torque_factor = np.array(wiring.torque_factor or (1.0,) * n)
        self._limit, self._step = np.array(s.limit), np.array(s.step)
        self._every = 1.0 / (s.rate_hz * wiring.rate_factor * TICK_S)
        self._due, self._sent = 0.0, 0
        self._queue: deque[tuple[int, Array]] = deque()

    def run(self) -> None:
        """Run until the process is ended."""
        start, lost, told = time.perf_counter(), 0.0, 0
        while True:
            now = time.perf_counter() - start - lost
            behind = now - self._ticks * TICK_S
            if behind < 0.0:
                time.sleep(min(-behind, TICK_S))
                continue
            if behind > STALL_S:
                lost += behind
                self._seen.stalls += 1
                self._seen.stall_s = max(self._seen.stall_s, behind)
            self._hear()
            if waited := self._wait():
                lost += waited
            self._tick()
            if self._ticks - told >= STATUS_S / TICK_S:
                told = self._ticks
                self._tell()

    def _wait(self) -> float:
        """Wait for a controller that is stalled; return the seconds."""
        if self._heard is None or self._gave_up:
            return 0.0
        if self._ticks - self._heard <= (UNANSWERED + 1) * self._every:
            return 0.0
        begun = time.perf_counter()
        answers, number = self._seen.commands, self._number
        while (waited := time.perf_counter() - begun) < self._settings.patience_s:
            time.sleep(TICK_S)
            self._hear()
            if self._seen.commands != answers or self._number != number:
                break
        else:
            self._gave_up = True
        self._seen.waits += 1
        self._seen.wait_s = max(self._seen.wait_s, waited)
        return waited

    def _hear(self) -> None:
        for message in _taken(self._wirings):
            if message.data.startswith('+'):
                self._number += 1
                self._wire(Wiring.from_json(message.data[1:]))
            elif message.data:
                self._number += 1
                self._restart(Wiring.from_json(message.data))
            else:
                self._cleared += 1
                self._seen = Extremes(self._arm.q.copy())
        for message in _taken(self._commands):
            label = message.layout.dim[-1].label if message.layout.dim else ''
            names = label.split(',') if label else list(self._settings.joints)
            values = dict(zip(names, message.data))
            wanted = np.array([values[name] for name in self._settings.joints])
            if self._heard is not None:
                gap = (self._ticks - self._heard) * TICK_S
                self._seen.gap_s = max(self._seen.gap_s, gap)
            self._heard, self._gave_up = self._ticks, False
            self._seen.commands += 1
            self._queue.append((self._ticks + round(self._wiring.delay_s / TICK_S), wanted))

    def _tick(self) -> None:
        while self._queue and self._queue[0][0] <= self._ticks:
            self._wanted = self._queue.popleft()[1]
            if np.any(self._wanted):
                self._braked, self._quiet = False, 0
        arm, gravity = self._arm, self._arm.gravity()
        torque = np.clip(self._torque_factor * self._wanted, -self._limit, self._limit)
        self._quiet += 1
        if np.any(self._wanted) and self._heard is not None:
            silent = (self._ticks - self._heard) * TICK_S > BRAKE_S
            self._quiet = self._quiet if silent else 0
        if not self._braked and self._quiet * TICK_S > BRAKE_S:
            self._braked = True
            arm.stop()
        if not self._braked:
            own = gravity if self._wiring.compensates_gravity else 0.0
            arm.advance(torque + own)
            beyond = torque if self._wiring.compensates_gravity else torque - gravity
            at_limit = bool(np.any(np.abs(torque) >= self._limit))
            self._seen.take(beyond, self._wanted, arm.q, arm.dq, at_limit)
        self._ticks += 1
        self._publish(torque)

    def _publish(self, torque: Array) -> None:
        self._due += 1.0
        if self._due < self._every * self._sent:
            return
        self._sent += 1
        self._seen.states += 1
        arm, w = self._arm, self._wiring
        q = np.round(arm.q / self._step) * self._step
        q = (self._factor * q + self._offset)[self._order]
        message = JointState(name=list(self._settings.joints), position=q.tolist())
        if w.velocity:
            message.velocity = (self._factor * arm.dq)[self._order].tolist()
        message.effort = torque.tolist()
        ns = self._epoch_ns + round(1e9 * self._ticks * TICK_S)
        ns += round(1e9 * w.jitter_s * self._rng.uniform(-1.0, 1.0))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
        self._states.publish(message)

    def _tell(self) -> None:
        about = {'wiring': self._number, 'cleared': self._cleared, 'braked': self._braked}
        self._status.publish(String(data=json.dumps({**about, **self._seen.figures()})))


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
