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
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from plants.position_arm import CONTROL_S, PositionArm, Settings  # noqa: E402

from robot_id.trajectory.sampled_motion import SampledMotion  # noqa: E402

Array = NDArray[np.float64]
CONTROLLER = 'joint_trajectory_controller'
STATUS_S, REFERENCE_S = 0.05, 0.02
# Further behind than this the process was not run: that time is skipped.
STALL_S = 0.02
# rad/s: slower is at rest.
STANDS = 1e-3

try:
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:
    FollowJointTrajectory = None


class JtcPlant:
    """The process: topics, action and time of an arm."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._arm = settings, PositionArm(settings)
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
        self._wanted = np.array([settings.position, [0.0] * self._arm.n, [0.0] * self._arm.n])
        self._motion: SampledMotion | None = None
        self._at = self._since = 0.0
        self._goal: Any = None
        self._outcome = (0, '')
        self._ticks = 0
        self._epoch_ns = time.time_ns()
        self._seen = {'trajectories': 0, 'rejected': 0, 'speed': 0.0, 'acceleration': 0.0}
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
            silent = self._settings.silent_at
            if now >= sent and not (silent and self._motion and self._since > silent):
                sent = now + 1.0 / self._settings.state_hz - 1e-9
                self._publish_state()
            if now >= shown and self._references is not None:
                shown = now + REFERENCE_S - 1e-9
                self._publish_reference()
            if now >= told:
                told = now + STATUS_S
                self._status.publish(String(data=json.dumps(self._figures())))

    def _tick(self) -> None:
        self._ticks += 1
        settings, motion = self._settings, self._motion
        if motion is not None:
            self._at += settings.scaling * CONTROL_S
            self._since += CONTROL_S
            k = settings.scaling
            q, dq, ddq = motion.sample(min(self._at, motion.duration))
            before = self._wanted[1]
            self._wanted = np.array([q, k * dq, k**2 * ddq])
            self._note(before)
            if settings.aborts_at and self._since > settings.aborts_at:
                self._end(-4, 'path tolerance violated')
            elif self._at >= motion.duration:
                self._end(0, '')
        stuck = bool(settings.stuck_at) and self._since > settings.stuck_at
        self._arm.advance(self._wanted, stuck)

    def _note(self, before: Array) -> None:
        seen = self._seen
        seen['speed'] = max(seen['speed'], float(np.abs(self._wanted[1]).max()))
        change = float(np.abs(self._wanted[1] - before).max()) / CONTROL_S
        seen['acceleration'] = max(seen['acceleration'], change)

    def _end(self, code: int, text: str) -> None:
        """Hold the position, and answer the goal."""
        self._wanted = np.array([self._wanted[0], 0 * self._wanted[0], 0 * self._wanted[0]])
        self._motion = None
        goal, self._goal = self._goal, None
        if goal is not None:
            self._outcome = code, text
            goal.execute()

    def _take(self, message: JointTrajectory) -> str:
        """Begin a trajectory from the present reference; return why not."""
        self._seen['trajectories'] += 1
        names = list(self._settings.joints)
        if self._settings.rejects:
            return 'rejected'
        if sorted(message.joint_names) != sorted(names) or not message.points:
            return 'joints do not match'
        order = [message.joint_names.index(name) for name in names]
        times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
        rows = [
            [np.array(values)[order] for values in (p.positions, p.velocities)]
            for p in message.points
        ]
        if np.any(np.diff(times) <= 0.0):
            return 'times do not increase'
        if np.abs(rows[-1][1]).max() > 1e-6:
            return 'the last point moves'
        if times[0] > 0.0:
            times, rows = [0.0, *times], [[self._wanted[0], self._wanted[1]], *rows]
        q, dq = (np.array([row[i] for row in rows]) for i in (0, 1))
        self._motion = SampledMotion(np.array(times), q, dq)
        self._at = self._since = 0.0
        self._seen.update(speed=0.0, acceleration=0.0)
        return ''

    def _on_trajectory(self, message: JointTrajectory) -> None:
        self._seen['rejected'] += bool(self._take(message))

    def _accept(self, request: Any) -> GoalResponse:
        old, self._goal = self._goal, None
        why = self._take(request.trajectory)
        if old is not None:
            self._outcome = -1, 'preempted'
            old.execute()
        self._seen['rejected'] += bool(why)
        return GoalResponse.REJECT if why else GoalResponse.ACCEPT

    def _begin(self, goal: Any) -> None:
        self._goal = goal

    def _cancel(self, _: Any) -> CancelResponse:
        self._end(0, 'cancelled')
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
        self._settings = self._arm.settings = self._settings.changed(message.data)

    def _stamp(self, message: Any) -> Any:
        ns = self._epoch_ns + round(1e9 * self._ticks * CONTROL_S)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
        return message

    def _publish_state(self) -> None:
        arm, message = self._arm, JointState(name=list(self._settings.joints))
        message.position, message.velocity = arm.q.tolist(), arm.dq.tolist()
        message.effort = arm.effort().tolist()
        self._states.publish(self._stamp(message))

    def _publish_reference(self) -> None:
        q, dq, ddq = (row.tolist() for row in self._wanted)
        message = JointTrajectoryControllerState(joint_names=list(self._settings.joints))
        message.reference = JointTrajectoryPoint(positions=q, velocities=dq, accelerations=ddq)
        message.feedback = JointTrajectoryPoint(positions=self._arm.q.tolist())
        self._references.publish(self._stamp(message))

    def _figures(self) -> dict[str, Any]:
        stands = bool(np.abs(self._arm.dq).max() < STANDS) and self._motion is None
        return {**self._seen, 'stands': stands, 'position': self._arm.q.tolist()}


def main() -> None:
    """Run until Ctrl-C."""
    rclpy.init()
    plant = JtcPlant(Settings.read(Path(sys.argv[1])))
    with contextlib.suppress(KeyboardInterrupt):
        plant.run()


if __name__ == '__main__':
    main()
