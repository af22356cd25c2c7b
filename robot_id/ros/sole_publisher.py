"""One controller on a robot: only the first one sends commands."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Header

from robot_id.data.cleaning.stamps import to_ns
from robot_id.ros.durations import to_stamp
from robot_id.ros.messages import WrongState
from robot_id.ros.qos import LATCHED

POLL_S = 0.005
LISTENING = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT
)
# The last message of each of several owners.
CLAIMS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=20,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class SoleSender:
    """
    The right to send commands on a topic.

    A new controller listens first and hears another one that sends. Two that start together, or
    have not discovered each other yet, publish since when they send, on TOPIC/owner
    (std_msgs/Header: stamp and name; no name: sends no more); the later one stops as soon as it
    hears the earlier one.

    :param kind: type of the commands.
    :param topic: full name of their topic.
    :param yield_control: called with the name of the earlier one.
    """

    def __init__(
        self, node: Node, kind: type, topic: str, yield_control: Callable[[str], None]
    ) -> None:
        self._node, self._kind, self._topic, self._yield_control = node, kind, topic, yield_control
        self._since: int | None = None
        # Two nodes may have one name.
        self._name = f'{node.get_fully_qualified_name()} {os.urandom(4).hex()}'
        self._claims = node.create_publisher(Header, f'{topic}/owner', LATCHED)
        self._heard = node.create_subscription(Header, f'{topic}/owner', self._hear, CLAIMS)

    def begin(self, listen_s: float) -> None:
        """
        Take the right; the caller must not have sent yet.

        :param listen_s: how long to listen where others could send.
        :raises WrongState: with the name of the sender.
        """
        others = self._other_publishers()
        if others and self._hears_another(listen_s):
            raise WrongState(
                f'the robot has a controller already: {", ".join(others)} sends commands'
            )
        self._since = time.time_ns()
        self._claim(self._since, self._name)

    def end(self) -> None:
        """Give it back."""
        if self._since is not None:
            self._since = None
            self._claim(0, '')

    def close(self) -> None:
        """Leave the topic."""
        self._node.destroy_subscription(self._heard)
        self._node.destroy_publisher(self._claims)

    def _claim(self, since: int, name: str) -> None:
        self._claims.publish(Header(stamp=to_stamp(since), frame_id=name))

    def _hear(self, claim: Header) -> None:
        if self._since is None or claim.frame_id in ('', self._name):
            return
        if (to_ns(claim.stamp), claim.frame_id) < (self._since, self._name):
            self._yield_control(claim.frame_id.rsplit(' ', 1)[0])
        else:
            # It came later and may not have heard of us.
            self._claim(self._since, self._name)

    def _other_publishers(self) -> list[str]:
        """Return the full names of the other nodes that can publish commands."""
        own = self._node.get_fully_qualified_name()
        found = [
            f'{info.node_namespace.rstrip("/")}/{info.node_name}'
            for info in self._node.get_publishers_info_by_topic(self._topic)
        ]
        if own in found:
            found.remove(own)
        return found

    def _hears_another(self, seconds: float) -> bool:
        """
        Return whether another node sends commands now.

        A node that was killed stays on the graph for a while, and one that is inactive sends
        nothing: only what is heard counts. No executor is needed.
        """
        subscription: Any = self._node.create_subscription(
            self._kind, self._topic, lambda _: None, LISTENING, raw=True
        )
        try:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                with subscription.handle:
                    if subscription.handle.take_message(subscription.msg_type, True) is not None:
                        return True
                time.sleep(POLL_S)
            return False
        finally:
            self._node.destroy_subscription(subscription)
