"""
Hears the robot all the time, and holds the rules of its torques.

No torque above the limits; none that acts for longer than the simulator's watchdog and two periods
(of its own time) without a sign of a live controller: a command, or a torque that changes. The
order of commands and states is that in which they were published (the middleware stamps them). A
command that a busy machine brings late also ends late: what messages took to us in the seconds
around is allowed on top.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_id.data.cleaning.stamps import to_ns
from robot_id.exceptions import DataError
from robot_id.ros.wire import EFFORTS, STATE, Stream

# What the soak itself publishes carries this name and is no word of the robot.
OWN = 'soak'
# Below this share of the limit it is rounding, no torque.
NOTHING = 1e-9
# Two topics may reach us in another order than they were sent.
HELD_BACK_NS = 1_000_000_000
# When it was published, whether it is a joint state, then its stamp and torque; for a command the
# number that its publisher gave it.
Event = tuple[int, bool, int, float]


class Watch:
    """
    A node with a thread of its own.

    :param limit: largest torque.
    :param watchdog_s: of the simulator.
    :param rate_hz: of the joint states.
    :ivar highest: largest torque so far, and `longest_s` the longest one without a command.
    """

    def __init__(self, limit: float, watchdog_s: float, rate_hz: float) -> None:
        self._limit = limit * (1.0 + 1e-9)
        self._longest_ns = self._allowed_ns = round(1e9 * (watchdog_s + 2.0 / rate_hz))
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._published: list[np.ndarray] = []
        self._delays: list[tuple[int, int]] = []
        self._since: int | None = None
        self._acting = 0.0
        self._number = 0
        self._late: list[float] = []
        self.highest = 0.0
        self.longest_s = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='watch', daemon=True)

    def __enter__(self) -> Watch:
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node('soak_watch', context=self._context)
        profile = QoSProfile(depth=20000, reliability=ReliabilityPolicy.RELIABLE)
        states, commands = Stream(JointState, STATE), Stream(Float64MultiArray, EFFORTS)

        # rclpy gives the message's information to callbacks with two arguments.
        def on_state(data: Any, info: Any) -> None:
            try:
                message = states(data)
            except DataError:
                return
            if message.header.frame_id != OWN and message.effort:
                stamp = to_ns(message.header.stamp)
                self._add((info['source_timestamp'], True, stamp, float(message.effort[0])))

        def on_command(data: Any, info: Any) -> None:
            try:
                message = commands(data)
            except DataError:
                return
            dimensions = message.layout.dim
            if not dimensions or dimensions[-1].label != OWN:
                number = info.get('publication_sequence_number') or 0
                self._add((info['source_timestamp'], False, number, 0.0))

        for kind, topic, callback in (
            (JointState, 'joint_states', on_state),
            (Float64MultiArray, 'effort_commands', on_command),
        ):
            self._node.create_subscription(kind, topic, callback, profile, raw=True)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def _add(self, event: Event) -> None:
        delay = time.time_ns() - event[0]
        with self._lock:
            self._events.append(event)
            self._delays.append((event[0], delay))

    def rates(self) -> tuple[float, float]:
        """Return joint states and commands of the last second."""
        since = time.time_ns() - 1_000_000_000
        with self._lock:
            last = [event for event in self._events[-5000:] if event[0] > since]
        states = sum(event[1] for event in last)
        return float(states), float(len(last) - states)

    def published(self) -> np.ndarray:
        """Return the times [ns] at which joint states were published, in order."""
        return np.sort(np.concatenate([np.zeros(0, np.int64), *self._published]))

    def check(self) -> list[str]:
        """Hold the rules against what was heard; return those that were broken."""
        until = time.time_ns() - HELD_BACK_NS
        with self._lock:
            ready = sorted(event for event in self._events if event[0] <= until)
            self._events = [event for event in self._events if event[0] > until]
            delays = self._delays
            self._delays = [each for each in delays if each[0] > until - HELD_BACK_NS]
        self._allowed_ns = self._longest_ns + max((delay for _, delay in delays), default=0)
        self._published.append(np.array([e[0] for e in ready if e[1]], np.int64))
        beyond: list[float] = []
        late: list[float] = []
        for _, is_state, stamp, torque in ready:
            if is_state:
                self._judge(stamp, torque)
                if not abs(torque) <= self._limit:
                    beyond.append(torque)
                continue
            # Numbers that are missing are commands that the robot heard and we did not: between
            # two, or before the first that we hear of a controller that was started again.
            before = self._number if stamp > self._number else 0
            if stamp <= before + 1 or not stamp:
                late += self._late
            self._number, self._since, self._late = stamp, None, []
        broken = []
        if beyond:
            broken.append(
                f'{len(beyond)} torques up to {max(map(abs, beyond)):.5g} above the limit'
            )
        if late:
            broken.append(
                f'{len(late)} torques up to {max(map(abs, late)):.5g} without a live controller'
            )
        return broken

    def _judge(self, stamp: int, torque: float) -> None:
        """Note how long a torque has acted without a sign of the controller."""
        if self._since is None or torque != self._acting or stamp < self._since:
            self._since, self._acting = stamp, torque
        self.highest = max(self.highest, abs(torque))
        if abs(torque) > NOTHING * self._limit:
            acted = stamp - self._since
            if acted > self._allowed_ns:
                self._late.append(torque)
            else:
                self.longest_s = max(self.longest_s, acted / 1e9)
