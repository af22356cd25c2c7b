"""
A position-controlled arm as a process, with the interfaces of a joint_trajectory_controller.

Usage: python jtc_plant.py SETTINGS.json [--ros-args ...]

It publishes `joint_states` and `joint_trajectory_controller/controller_state`, takes trajectories
by topic and by action (where control_msgs is built), and holds its position otherwise. A JSON text
on `plant/settings` changes it while it runs (position_arm.py); `plant/status` (std_msgs/String,
JSON) tells the largest speed and acceleration of its reference since the last trajectory, and
whether it stands.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from plants.position_arm import CONTROL_S, Settings  # noqa: E402
from plants.trajectory_controller import TrajectoryController  # noqa: E402

CONTROLLER = 'joint_trajectory_controller'
STATUS_S, REFERENCE_S = 0.05, 0.02
# Further behind than this the process was not run: that time is skipped.
STALL_S = 0.02

try:
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:
    FollowJointTrajectory = None


class JtcPlant:
    """The process: topics, action and time of an arm."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._controller = settings, TrajectoryController(settings)
        self._node = rclpy.create_node('jtc_plant')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        node = self._node
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        self._status = node.create_publisher(String, 'plant/status', 10)
        node.create_subscription(String, 'plant/settings', self._on_settings, 10)
        node.create_subscription(
            JointTrajectory, f'{CONTROLLER}/joint_trajectory', self._on_trajectory, 10
        )
        self._references = None
        if FollowJointTrajectory is not None:
            self._references = node.create_publisher(
                JointTrajectoryControllerState, f'{CONTROLLER}/controller_state', 10
            )
            self._server = ActionServer(
                node,
                FollowJointTrajectory,
                f'{CONTROLLER}/follow_joint_trajectory',
                self._finish,
                goal_callback=self._accept,
                handle_accepted_callback=self._begin,
                cancel_callback=self._cancel,
            )
        self._goal: Any = None
        self._outcome = (0, '')
        self._ticks = 0
        self._epoch_ns = time.time_ns()
        node.get_logger().info('ready')

    def run(self) -> None:
        """Run until the process is ended."""
        start, lost, told, sent, shown = time.perf_counter(), 0.0, 0.0, 0.0, 0.0
        while True:
            behind = time.perf_counter() - start - lost - self._ticks * CONTROL_S
            if behind < 0.0:
                self._executor.spin_once(timeout_sec=min(-behind, CONTROL_S))
                continue
            if behind > STALL_S:
                lost += behind
            self._executor.spin_once(timeout_sec=0.0)
            self._tick()
            now = self._ticks * CONTROL_S
            if now >= sent and not self._controller.silent:
                sent = now + 1.0 / self._settings.state_hz - 1e-9
                self._publish_state()
            if now >= shown and self._references is not None:
                shown = now + REFERENCE_S - 1e-9
                self._publish_reference()
            if now >= told:
                told = now + STATUS_S
                self._status.publish(String(data=json.dumps(self._controller.figures())))

    def _tick(self) -> None:
        self._ticks += 1
        self._controller.tick()
        if self._goal is not None and self._controller.ended is not None:
            self._answer(self._controller.ended)

    def _answer(self, outcome: tuple[int, str]) -> None:
        """End the goal."""
        goal, self._goal = self._goal, None
        self._outcome = outcome
        goal.execute()

    def _take(self, message: JointTrajectory) -> str:
        """Begin a trajectory; return why not."""
        times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
        rows = [[np.array(p.positions), np.array(p.velocities)] for p in message.points]
        return self._controller.take(message.joint_names, times, rows)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        self._take(message)

    def _accept(self, request: Any) -> GoalResponse:
        if self._goal is not None:
            self._answer((-1, 'preempted'))
        return GoalResponse.REJECT if self._take(request.trajectory) else GoalResponse.ACCEPT

    def _begin(self, goal: Any) -> None:
        self._goal = goal

    def _cancel(self, _: Any) -> CancelResponse:
        self._controller.end(0, 'cancelled')
        return CancelResponse.ACCEPT

    def _finish(self, goal: Any) -> Any:
        code, text = self._outcome
        if goal.is_cancel_requested:
            goal.canceled()
        elif code == 0:
            goal.succeed()
        else:
            goal.abort()
        return FollowJointTrajectory.Result(error_code=code, error_string=text)

    def _on_settings(self, message: String) -> None:
        self._controller.change(message.data)

    def _stamp(self, message: Any) -> Any:
        ns = self._epoch_ns + round(1e9 * self._ticks * CONTROL_S)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
        return message

    def _publish_state(self) -> None:
        arm, message = self._controller.arm, JointState(name=list(self._settings.joints))
        message.position, message.velocity = arm.q.tolist(), arm.dq.tolist()
        message.effort = arm.effort().tolist()
        self._states.publish(self._stamp(message))

    def _publish_reference(self) -> None:
        q, dq, ddq = (row.tolist() for row in self._controller.wanted)
        message = JointTrajectoryControllerState(joint_names=list(self._settings.joints))
        message.reference = JointTrajectoryPoint(positions=q, velocities=dq, accelerations=ddq)
        message.feedback = JointTrajectoryPoint(positions=self._controller.arm.q.tolist())
        self._references.publish(self._stamp(message))


def main() -> None:
    """Run until Ctrl-C."""
    rclpy.init()
    plant = JtcPlant(Settings.read(Path(sys.argv[1])))
    with contextlib.suppress(KeyboardInterrupt):
        plant.run()


if __name__ == '__main__':
    main()
