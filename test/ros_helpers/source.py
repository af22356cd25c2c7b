"""Joint states published by the test itself."""

from __future__ import annotations

import math
import threading
import time

import rclpy
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState


def joint_state(k: int, rate: float = 500.0, names: tuple[str, ...] = ('joint_1',)) -> JointState:
    """Return the sample k of a slow sine, stamped from 100 s on."""
    ns = 100_000_000_000 + round(k * 1e9 / rate)
    message = JointState(name=list(names))
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 1_000_000_000)
    message.position = [math.sin(0.01 * k)] * len(names)
    message.effort = [float(k)] * len(names)
    return message


class Source:
    """
    Publishes joint states from a thread of its own while a test does other things.

    :param rate: messages per second.
    :param change: may alter a message; returns the list of messages to publish in its place.
    """

    def __init__(
        self, namespace: str = '', rate: float = 500.0, change=None, reliable: bool = True
    ) -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self.node = Node('source', namespace=namespace, context=self._context)
        policy = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        profile = QoSProfile(depth=1000, reliability=policy)
        self._publisher = self.node.create_publisher(JointState, 'joint_states', profile)
        self._rate, self._change = rate, change
        self.sent = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def start(self, count: int = 10**9, listeners: int = 1, timeout: float = 20.0) -> Source:
        """Wait for listeners, then publish up to `count` samples."""
        deadline = time.monotonic() + timeout
        while self._publisher.get_subscription_count() < listeners:
            assert time.monotonic() < deadline, 'nobody listens to joint_states'
            time.sleep(0.01)
        self._count = count
        self._thread.start()
        return self

    def wait(self, timeout: float = 30.0) -> None:
        """Wait until all samples are sent and received."""
        self._thread.join(timeout)
        assert not self._thread.is_alive()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(30.0)

    def _run(self) -> None:
        begun = time.monotonic()
        for k in range(self._count):
            due = begun + k / self._rate
            if self._stop.wait(max(due - time.monotonic(), 0.0)):
                break
            message = joint_state(k, self._rate)
            for each in [message] if self._change is None else self._change(k, message):
                self._publisher.publish(each)
                self.sent += 1
        self._publisher.wait_for_all_acked(Duration(seconds=5))
