"""The action `~/commission` of the running `ctc_controller`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse

from robot_id.control.runtime.torque_control import Command, Mode, TorqueControl
from robot_id.control.supervision.commissioning import Commissioning
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id_msgs.action import Commission
from robot_id_msgs.msg import ErrorCode, JointFinding

Array = NDArray[np.float64]


class CommissionAction:
    """
    Probes the robot joint by joint, in the samples of the control loop.

    :param node: the lifecycle node.
    :param control: the law and its supervisor.
    """

    def __init__(self, node: RobotLifecycleNode, control: TorqueControl) -> None:
        self._node, self._control = node, control
        self._work: Commissioning | None = None
        self._goal: Any = None
        server = ActionServer(
            node,
            Commission,
            '~/commission',
            self._finish,
            goal_callback=self._accept,
            handle_accepted_callback=self._begin,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        node.track(ActionServer.destroy, server)

    @property
    def at_work(self) -> bool:
        """Whether a robot is probed now."""
        return self._work is not None

    def feed(self, command: Command, position: Array) -> None:
        """Take in a sample of the loop."""
        work = self._work
        # The goal is gone from the end of the work until its result is made.
        if work is None or self._goal is None:
            return
        before = work.joint
        work.feed(command, position)
        if self._goal.is_cancel_requested:
            work.end()
        if work.joint != before:
            feedback = Commission.Feedback(joint=work.joint, fraction=work.fraction)
            self._goal.publish_feedback(feedback)
        if work.done:
            self.end()

    def end(self) -> None:
        """End, whether all joints were probed or not."""
        if self._work is not None and self._goal is not None:
            self._work.end()
            goal, self._goal = self._goal, None
            goal.execute()

    def _accept(self, request: Commission.Goal) -> GoalResponse:
        """Take a goal for a robot that is held."""
        names = self._control.controller.robot.joint_names
        wrong = [name for name in request.joints if name not in names]
        held = self._node.active and self._control.mode is Mode.HOLDING
        why = ''
        if wrong:
            why = f"the robot has no joint '{wrong[0]}'"
        elif not self._control.supervisor.soft_start_s:
            why = 'without a soft start (soft_start_s 0, or lock-step) nothing is compared'
        elif self._node.settings['dry_run'] or not held:
            why = f'the robot is not held: {self._control.mode.value}'
        elif self.at_work:
            why = 'a commissioning is under way'
        if why:
            self._node.warning(f'~/commission refused: {why}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _begin(self, goal: Any) -> None:
        """Begin in the next sample; nothing waits here."""
        self._goal = goal
        self._control.supervisor.restart(held=True)
        self._work = Commissioning(self._control, goal.request.joints)
        self._node.event('commissioning', joints=','.join(goal.request.joints) or 'all')

    def _finish(self, goal: Any) -> Commission.Result:
        """Return what was found."""
        work, self._work = self._work, None
        result = Commission.Result()
        assert work is not None
        result.findings = [JointFinding(**vars(each)) for each in work.findings]
        bad = [each for each in work.findings if not each.agrees]
        for each in work.findings:
            self._node.event(f"commissioning: joint '{each.joint}': {each.text}")
        if goal.is_cancel_requested:
            result.error_code, result.error_string = ErrorCode.CANCELED, 'cancelled on request'
            goal.canceled()
        elif bad:
            result.error_code = ErrorCode.REFUSED
            result.error_string = work.reason
            goal.abort()
        else:
            goal.succeed()
        return result
