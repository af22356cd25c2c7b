"""Subscriptions that work with any publisher: reliable, best effort, early or late."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from robot_id.exceptions import DataError
from robot_id.ros.qos import DEPTH
from robot_id.ros.wire import Stream

POLL_S = 0.01


class Listener:
    """
    Hears a topic as bytes, reliably where its publishers are reliable.

    "Best available" looks at the publishers that are there when the subscription is made; when a
    best-effort publisher comes later, the subscription is made again.

    :param node: the node.
    :param kind: type of the messages.
    :param topic: relative name.
    :param callback: called with the receive time [ns] and the serialised message.
    :param depth: of the queue.
    :ivar lost: messages that the middleware reported as lost.
    """

    def __init__(
        self,
        node: Node,
        kind: type,
        topic: str,
        callback: Callable[[int, bytes], None],
        depth: int,
    ) -> None:
        self._node, self._kind, self._topic = node, kind, topic
        self._callback, self._depth = callback, depth
        self.lost = 0
        self._timer: Any = None
        self._subscribe(ReliabilityPolicy.BEST_AVAILABLE)

    @property
    def topic(self) -> str:
        """Full name of the topic, after namespace and remapping."""
        return self._subscription.topic_name

    @property
    def publishers(self) -> int:
        """Publishers that are connected now."""
        return self._subscription.get_publisher_count()

    def wait_for_publishers(self, timeout_s: float) -> int:
        """Wait until all publishers of the graph are connected; return how many are."""
        deadline = time.monotonic() + timeout_s
        present = self._node.count_publishers(self.topic)
        while (found := self.publishers) < present:
            if time.monotonic() > deadline:
                break
            time.sleep(POLL_S)
        return found

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_subscription(self._subscription)

    def _subscribe(self, reliability: ReliabilityPolicy) -> None:
        profile = QoSProfile(
            history=HistoryPolicy.KEEP_LAST, depth=self._depth, reliability=reliability
        )
        events = SubscriptionEventCallbacks(
            incompatible_qos=self._on_incompatible, message_lost=self._on_lost
        )
        self._subscription = self._node.create_subscription(
            self._kind, self._topic, self._hear, profile, raw=True, event_callbacks=events
        )

    def _hear(self, data: bytes) -> None:
        # By the clock on the wall, as `ros2 bag record` does: a simulated one may stop. (The
        # events executor of Jazzy fails on callbacks that ask for the message's information.)
        self._callback(time.time_ns(), data)

    def _on_lost(self, event: Any) -> None:
        self.lost += event.total_count_change

    def _on_incompatible(self, event: Any) -> None:
        # Not here: the subscription must outlive its own callback.
        if self._timer is None:
            # By a steady clock: a simulated one may stop until its robot is heard.
            self._timer = self._node.create_timer(
                0.0, self._accept_best_effort, clock=Clock(clock_type=ClockType.STEADY_TIME)
            )

    def _accept_best_effort(self) -> None:
        self._node.destroy_timer(self._timer)
        self._timer = None
        self.close()
        self._subscribe(ReliabilityPolicy.BEST_EFFORT)
        self._node.get_logger().info(
            f'{self.topic}: a publisher is best effort, so this subscription is too'
        )


def hear(
    node: Any,
    kind: type,
    topic: str,
    callback: Callable[[Any], None],
    arrays: Sequence[str],
    depth: int = DEPTH,
) -> Listener:
    """
    Hear a topic as messages; invalid bytes are refused by the node.

    :param node: a NodeBase.
    :param callback: called with each message, which it must not keep: the next one fills it again.
    :param arrays: paths of the arrays whose numbers change, see `wire.Stream`.
    """
    read = Stream(kind, arrays)

    def take(_: int, data: bytes) -> None:
        try:
            message = read(data)
        except DataError as error:
            node.refuse(f'message on {topic}', error)
            return
        callback(message)

    return Listener(node, kind, topic, take, depth)
