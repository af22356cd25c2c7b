"""One controller on a robot: whether somebody else sends commands."""

from __future__ import annotations

import os
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

POLL_S = 0.005
# Two that are started together listen for different times, so that one is heard by the other.
SLOTS, SLOT_S = 8, 0.05
PROFILE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT
)


def other_publishers(node: Node, topic: str) -> list[str]:
    """Return the full names of the other nodes that can publish on a topic."""
    own = node.get_fully_qualified_name()
    found = [
        f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(topic)
    ]
    if own in found:
        found.remove(own)
    return found


def heard_another(node: Node, kind: type, topic: str, seconds: float) -> bool:
    """
    Return whether another node sends messages now; the caller itself must be silent.

    A node that was killed stays on the graph for a while, and one that is inactive sends nothing:
    only what is heard counts. No executor is needed.
    """
    seconds += SLOT_S * (os.getpid() % SLOTS)
    subscription: Any = node.create_subscription(kind, topic, lambda _: None, PROFILE, raw=True)
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with subscription.handle:
                if subscription.handle.take_message(subscription.msg_type, True) is not None:
                    return True
            time.sleep(POLL_S)
        return False
    finally:
        node.destroy_subscription(subscription)
