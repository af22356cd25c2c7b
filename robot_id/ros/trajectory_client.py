"""Trajectories for a joint_trajectory_controller, by its action or by its topic."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from numpy.typing import NDArray
from rclpy.action import ActionClient
from rclpy.duration import Duration as Wait
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.data.io.bags.reader import STATE_TOPICS
from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError, OptionError
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.ros.durations import to_duration
from robot_id.ros.qos import STREAM
from robot_id.tasks.playing.watch import Told
from robot_id.trajectory.waypoints import Waypoints

Array = NDArray[np.float64]
# s that a trajectory needs to reach a controller before the process that sent it ends.
DELIVERY_S = 0.3


def control_messages() -> tuple[Any, Any] | None:
    """Return FollowJointTrajectory and JointTrajectoryControllerState, None without them."""
    try:
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError:
        return None
    return FollowJointTrajectory, JointTrajectoryControllerState


class TrajectoryClient:
    """
    Gives trajectories to a controller and hears its reference.

    :param node: a NodeBase.
    :param controller: relative name of the controller.
    :param driver: names, signs and units of the joints.
    :param interface: 'action', 'topic', or 'auto' for the action where control_msgs is installed.
    :param accelerations: whether the controller takes them.
    :ivar told: what the controller last told of its reference, None where it does not.
    """

    def __init__(
        self,
        node: Any,
        controller: str,
        driver: DriverMapping,
        interface: str,
        accelerations: bool,
    ) -> None:
        self._node, self._driver, self._accelerations = node, driver, accelerations
        self._matcher = JointMatcher(driver.names)
        self._still = driver.position.back(np.zeros(len(driver.names)))
        kinds = control_messages()
        if interface == 'action' and kinds is None:
            raise OptionError(
                'parameter interface: the action FollowJointTrajectory needs the ROS package '
                "control_msgs, which is not installed; use 'topic'"
            )
        self.told: Told | None = None
        self._number = 0
        self._ended: str | None = None
        self.by_action = kinds is not None and interface != 'topic'
        self._action: Any = None
        if self.by_action:
            assert kinds is not None
            self._kind = kinds[0]
            name = f'{controller}/follow_joint_trajectory'
            self._action = ActionClient(node, self._kind, name)
        self._publisher = node.create_publisher(
            JointTrajectory, f'{controller}/joint_trajectory', STREAM
        )
        if kinds is not None:
            for topic in STATE_TOPICS:
                node.create_subscription(kinds[1], f'{controller}/{topic}', self._on_state, STREAM)

    @property
    def ready(self) -> bool:
        """Whether a controller listens."""
        if self.by_action:
            return bool(self._action.server_is_ready())
        return bool(self._publisher.get_subscription_count())

    @property
    def ended(self) -> str | None:
        """
        How the controller ended the last trajectory: '' for success, else its reason.

        None while it is under way, and always by the topic, which tells nothing.
        """
        return self._ended

    def forget(self) -> None:
        """Forget the last trajectory: what comes of it belongs to no later one."""
        self._number += 1
        self._ended = None

    def send(self, points: Waypoints) -> None:
        """Give the controller a trajectory from now on, in place of the last one."""
        message = self._message(points)
        self.forget()
        if not self.by_action:
            self._publisher.publish(message)
            return
        number = self._number
        goal = self._kind.Goal(trajectory=message)
        future = self._action.send_goal_async(goal)
        future.add_done_callback(lambda done: self._on_answer(number, done.result()))

    def deliver(self, points: Waypoints, spin: Callable[[], None]) -> None:
        """Send a trajectory and wait until it has left, at the end of the process."""
        self.send(points)
        if not self.by_action:
            self._publisher.wait_for_all_acked(Wait(seconds=DELIVERY_S))
        deadline = time.monotonic() + DELIVERY_S
        while time.monotonic() < deadline:
            spin()

    def _message(self, points: Waypoints) -> JointTrajectory:
        message = JointTrajectory(joint_names=list(self._driver.names))
        back = self._driver.position.back
        for time_s, (q, dq, ddq) in zip(points.time, points.points):
            point = JointTrajectoryPoint(
                positions=back(q).tolist(),
                velocities=(back(dq) - self._still).tolist(),
                time_from_start=to_duration(float(time_s)),
            )
            if self._accelerations:
                point.accelerations = (back(ddq) - self._still).tolist()
            message.points.append(point)
        return message

    def _on_answer(self, number: int, handle: Any) -> None:
        if number != self._number:
            return
        if not handle.accepted:
            self._ended = 'the controller rejected the trajectory'
            return
        handle.get_result_async().add_done_callback(
            lambda done: self._on_result(number, done.result())
        )

    def _on_result(self, number: int, answer: Any) -> None:
        if number != self._number:
            return
        result = answer.result
        if (
            result.error_code == self._kind.Result.SUCCESSFUL
            and answer.status == GoalStatus.STATUS_SUCCEEDED
        ):
            self._ended = ''
        else:
            more = result.error_string or f'error code {result.error_code}'
            self._ended = f'the controller aborted the trajectory: {more}'

    def _on_state(self, message: Any) -> None:
        """Hear reference and position; the old message calls them `desired` and `actual`."""
        wanted = getattr(message, 'reference', None) or message.desired
        measured = getattr(message, 'feedback', None) or message.actual
        try:
            self._matcher.match(message.joint_names)
            self.told = Told(
                *(
                    self._driver.position(self._matcher.take(point.positions))
                    for point in (wanted, measured)
                )
            )
        except DataError:
            self.told = None
