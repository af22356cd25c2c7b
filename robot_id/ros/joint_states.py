"""The one way in which nodes hear the joint states of a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from robot_id.data.cleaning.stamps import Order, StampWatch, to_ns
from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.ros.listener import Listener, hear
from robot_id.ros.qos import DEPTH
from robot_id.ros.wire import STATE, Layout, Stream

Array = NDArray[np.float64]
OnPosition = Callable[[int, Order, Array], None]
Follower = Callable[[int, Array], None]


class JointStates:
    """
    Positions in the robot's order of joints, finite, each with how its stamp follows the last one.

    A joint state that cannot be used is refused by the node, with its reason.

    :param node: a NodeBase.
    :param driver: its topic, names and units.
    :param on_position: called with the stamp [ns], its order and the position (n,).
    :param period_ns: expected time between two joint states; None learns it.
    :param listens: False takes positions by `take` only, from a node of the same process.
    :ivar velocity: (n,) of the joint state that is being taken in, None where it has none that can
        be used: one for each joint, finite.
    :ivar followers: called afterwards with the stamp and the position, such as the `take` of
        another node.
    """

    def __init__(
        self,
        node: Any,
        driver: DriverMapping,
        on_position: OnPosition,
        period_ns: int | None = None,
        listens: bool = True,
    ) -> None:
        self._node, self._on_position = node, on_position
        self._matcher, self._convert = JointMatcher(driver.names), driver.position
        self.watch = StampWatch(period_ns)
        self.followers: list[Follower] = []
        self.velocity: Array | None = None
        self._still = driver.position(np.zeros(len(driver.names)))
        self._listener = None
        if listens:
            self._stream = Stream(JointState, STATE)
            self._known: Layout | None = None
            self._topic = driver.topics.joint_states
            self._listener = Listener(node, JointState, self._topic, self._hear, DEPTH)

    def close(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            self._listener.close()

    def take(self, ns: int, position: Array) -> None:
        """Take in a position (n,) in the robot's order of joints."""
        self._on_position(ns, self.watch.judge(ns), position)

    def _hear(self, _: int, data: bytes) -> None:
        """Take the position out of the bytes where they look as the last ones did."""
        known = self._known
        what = 'joint state'
        try:
            if known is not None and known.fits(data):
                ns, values = known.first(data)
                speeds: Sequence[float] = known.second(data)
            else:
                self._known, what = None, f'message on {self._topic}'
                message = self._stream(data)
                what = 'joint state'
                self._matcher.match(message.name)
                ns, values = to_ns(message.header.stamp), message.position
                speeds = message.velocity
                # That of an earlier message, where the sender's differ too often.
                layout = self._stream.layout
                self._known = layout if layout is not None and layout.fits(data) else None
            position = self._convert(self._matcher.take(values))
            self.velocity = self._speed(speeds)
        except DataError as error:
            self._node.refuse(what, error)
            return
        self.take(ns, position)
        for follower in self.followers:
            follower(ns, position)

    def _speed(self, values: Sequence[float]) -> Array | None:
        """Return (n,) velocities in the units of the positions, None for bad ones."""
        if not len(values):
            return None
        try:
            return self._convert(self._matcher.take(values, 'velocity')) - self._still
        except DataError:
            return None


class MeasuredTorques:
    """
    Positions and torques in the robot's order of joints, for nodes that identify.

    Where the driver's torques are computed by a law no effort is needed, and the torque is (0,).

    :param driver: its topic, names and units.
    :param on_sample: called with the stamp [ns], position (n,) and torque (n,).
    :param depth: joint states that may wait while the node works.
    """

    def __init__(
        self,
        node: Any,
        driver: DriverMapping,
        on_sample: Callable[[int, Array, Array], None],
        depth: int = DEPTH,
    ) -> None:
        self._node, self._on_sample = node, on_sample
        self._matcher, self._driver = JointMatcher(driver.names), driver
        topic = driver.topics.joint_states
        self._listener = hear(node, JointState, topic, self._on_message, STATE, depth)

    def _on_message(self, message: JointState) -> None:
        try:
            self._matcher.match(message.name)
            position = self._matcher.take(message.position, 'position')
            torque = np.empty(0)
            if self._driver.law is None:
                torque = self._driver.torque(self._matcher.take(message.effort, 'effort'))
        except DataError as error:
            self._node.refuse('joint state', error)
            return
        self._on_sample(to_ns(message.header.stamp), self._driver.position(position), torque)
