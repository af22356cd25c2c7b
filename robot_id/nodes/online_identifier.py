"""The node `online_identifier`: dynamic parameters that follow the robot while it works."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from robot_id.control.runtime.reference_buffer import ReferenceBuffer
from robot_id.data.cleaning.stamps import SECOND
from robot_id.data.joint_order import OtherJoints
from robot_id.exceptions import DataError, RobotIdError
from robot_id.methods.parameters import added_load, load_for_robot
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.sample_stream import Block, LawTorque, SampleStream
from robot_id.methods.recursive.status import Status, recent_error
from robot_id.methods.result import Result
from robot_id.nodes.online_settings import TABLE, make_identifier
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.diagnostics import ERROR, OK, WARN, RateMeter, Report
from robot_id.ros.durations import to_duration, to_stamp
from robot_id.ros.joint_states import MeasuredTorques
from robot_id.ros.listener import hear
from robot_id.ros.messages import parameters_from, parameters_message
from robot_id.ros.payload_message import running_message
from robot_id.ros.qos import LATCHED
from robot_id.ros.refusal import code_of
from robot_id.ros.wire import POINT
from robot_id.tasks.payload.attachment import link_frame
from robot_id_msgs.msg import DynamicParameters, OnlineStatus, PayloadEstimate
from robot_id_msgs.srv import ResetEstimate

WORK_S = 0.02
# Messages that may wait while the estimator works.
DEPTH = 2000
RECENT_S = 2.0
# A command that is older than this is no longer what a drive follows.
LONGEST_COMMAND = SECOND // 2
STATES = {
    'live': OnlineStatus.LIVE,
    'frozen': OnlineStatus.FROZEN,
    'partial': OnlineStatus.PARTIAL,
}
Array = NDArray[np.float64]


class OnlineIdentifierNode(NodeBase, Node):
    """Feeds the joint states to a recursive estimator and publishes its estimates."""

    def __init__(self) -> None:
        super().__init__('online_identifier')
        self.prepare(TABLE)
        self._robot = self.robot_setting()
        driver = self.driver_setting(self._robot)
        self._law = driver.law
        self._references = ReferenceBuffer(
            self._robot.joint_names, 4096, held=self._law is not None
        )
        self._riv = self.settings['method'] == 'riv'
        self._arm: Result | None = None
        self._start = self._robot.a_priori_or_none()
        self._carries = False
        if self.settings['nominal']:
            path = self.settings['nominal']
            self._robot, self._start, self._arm = load_for_robot(self._robot, path)
        self._sizes, self._frame = self._start, link_frame(self._robot)
        self._meter = RateMeter()
        self._begin()
        self._rehearse()
        self._estimates = self.create_publisher(DynamicParameters, '~/dynamic_parameters', LATCHED)
        self._statuses = self.create_publisher(OnlineStatus, '~/status', LATCHED)
        self._loads = self.create_publisher(PayloadEstimate, '~/payload', LATCHED)
        self._states = MeasuredTorques(self, driver, self._on_sample, DEPTH)
        if self._riv or self._law is not None:
            self._plan = hear(self, JointTrajectory, 'reference', self._on_reference, POINT, DEPTH)
        self.create_service(ResetEstimate, '~/reset', self._reset)
        self.create_timer(WORK_S, self._work, clock=self.steady)
        self.create_timer(self.settings['publish_period_s'], self._publish, clock=self.steady)
        self.diagnostics.add('estimation', self._report)
        self.event('ready', node=self.get_fully_qualified_name(), method=self.settings['method'])

    def _rehearse(self) -> None:
        """Run everything once: wrong settings fail at once, and the kernels are compiled."""
        rate, n = self.settings['rate_hz'] or 1000.0, self._robot.n
        identifier = make_identifier(self._robot, self.settings, rate, self._start, self._sizes)
        t = np.arange(round(RECENT_S * rate)) / rate
        angle = t[:, None] * np.linspace(3.0, 5.0, n)
        motion = np.array([np.sin(angle), 3.0 * np.cos(angle), -9.0 * np.sin(angle)])
        for first in range(0, len(t), 20):
            part = motion[:, first : first + 20].copy()
            identifier.feed(part[0], part[1], tuple(part) if self._riv else None)
        identifier.new_segment()
        identifier.status()
        self._error_of(rate, identifier.estimate, motion[0], motion[1])

    def _begin(self) -> None:
        """Start with no data."""
        reference = None
        if self._riv or self._law is not None:
            longest = SECOND // 50 if self._law is None else LONGEST_COMMAND
            reference = lambda stamp: self._references.at(stamp, longest)  # noqa: E731
        self._stream = SampleStream(self.settings['rate_hz'], reference)
        self._torques: LawTorque | None = None
        self._identifier: OnlineIdentifier | None = None
        self._recent: deque[Block] = deque()
        self._used = self._updates = 0
        self._stamp = 0
        self._failure = ''

    def _on_sample(self, ns: int, position: Array, torque: Array) -> None:
        self._meter.tick()
        self._stream.take(ns, position, torque)

    def refuse(self, what: str, error: RobotIdError) -> None:
        """Refuse a message; after a joint state that is missing a new block begins."""
        super().refuse(what, error)
        if what == 'joint state' and not isinstance(error, OtherJoints):
            self._meter.tick()
            self._stream.refuse(str(error))

    def _on_reference(self, message: JointTrajectory) -> None:
        try:
            self._references.take(message)
        except DataError as error:
            self.refuse('reference', error)

    def _work(self) -> None:
        """Give the estimator the new samples."""
        for block in self._stream.blocks():
            if self._identifier is None:
                rate = self._stream.rate_hz
                self._identifier = make_identifier(
                    self._robot, self.settings, rate, self._start, self._sizes
                )
                self.event('estimating', rate_hz=float(rate), robot=self._robot.name)
            if block.fresh:
                self._identifier.new_segment()
                self._recent.clear()
            if self._law is not None:
                self._torques = self._torques or LawTorque(self._law, self._stream.rate_hz)
                block = self._torques(block)
            reference = (
                tuple(block.reference) if self._riv and block.reference is not None else None
            )
            try:
                self._identifier.feed(block.position, block.torque, reference)
            except RobotIdError as error:
                self._failure = str(error)
                self.warning('block refused', reason=error)
                continue
            self._failure = ''
            self._used += len(block.stamps)
            self._stamp = int(block.stamps[-1])
            self._recent.append(block)
            while self._stamp - self._recent[0].stamps[-1] > RECENT_S * SECOND:
                self._recent.popleft()

    def _publish(self) -> None:
        if self._identifier is None:
            return
        status = self._identifier.status()
        deviations = np.array([p.std for p in status.parameters])
        if any(p.state != 'frozen' for p in status.parameters):
            self._updates += 1
        self._estimates.publish(
            parameters_message(
                self._robot,
                self._identifier.estimate,
                method=self.settings['method'],
                update=self._updates,
                stamp=to_stamp(self._stamp),
                deviations=deviations,
                covariance=self._identifier.covariance,
            )
        )
        self._statuses.publish(self._message(status))
        if self._arm is not None:
            self._loads.publish(self._load(self._arm))

    def _load(self, arm: Result) -> PayloadEstimate:
        """Return the load that was added since the arm was identified."""
        assert self._identifier is not None
        now = self._identifier
        change = added_load(self._robot, arm, now.estimate, now.covariance)
        if change.significant != self._carries:
            self._carries = change.significant
            self.event(f'load noticed, {change}' if self._carries else 'no load')
        return running_message(change, self._robot.name, self._frame, to_stamp(self._stamp))

    def _message(self, status: Status) -> OnlineStatus:
        message = OnlineStatus(
            robot=self._robot.name,
            method=self.settings['method'],
            enabled=True,
            names=[p.name for p in status.parameters],
            states=[STATES[p.state] for p in status.parameters],
            reasons=[p.reason for p in status.parameters],
            condition_number=math.sqrt(status.condition) if status.condition > 0 else math.nan,
            smallest_singular_value=status.smallest,
            covariance_trace=status.spread,
            relative_error_percent=self._error(),
            window=to_duration(self._memory_s()),
            samples=self._used,
            rejected=status.rejected + self._stream.rejected,
            gaps=self._stream.watch.gaps,
            updates=self._updates,
        )
        message.header.stamp = to_stamp(self._stamp)
        return message

    def _error(self) -> float:
        if not self._recent or self._identifier is None:
            return math.nan
        position = np.concatenate([block.position for block in self._recent])
        torque = np.concatenate([block.torque for block in self._recent])
        return self._error_of(self._stream.rate_hz, self._identifier.estimate, position, torque)

    def _error_of(self, rate: float, chi: Array, position: Array, torque: Array) -> float:
        slope = self.settings['coulomb_slope'] or None
        return recent_error(self._robot, rate, chi, position, torque, slope)

    def _memory_s(self) -> float:
        forgets = self.settings['memory'] != 'infinite'
        return self.settings['memory_s'] if forgets else self._used / self._stream.rate_hz

    def _reset(
        self, request: ResetEstimate.Request, response: ResetEstimate.Response
    ) -> ResetEstimate.Response:
        try:
            start = self._sizes
            if request.parameters.names:
                zeros = np.zeros(len(self._robot.base.names))
                start = parameters_from(
                    self._robot, request.parameters, start if start is not None else zeros
                )
        except RobotIdError as error:
            response.error_code, response.error_string = code_of(error), str(error)
            return response
        self._start = start
        self._references.clear()
        self._begin()
        self.event('reset', parameters=len(request.parameters.names) or 'as at launch')
        return response

    def _report(self) -> Report:
        meter = self._meter.take()
        values = {
            'rate_hz': meter['rate_hz'],
            'samples': self._used,
            'rejected': self._stream.rejected,
            'last_reason': self._stream.reason,
            **self._stream.watch.counts(),
        }
        if self._failure:
            return ERROR, self._failure, values
        if not meter['rate_hz']:
            return WARN, 'no joint states', values
        if self._identifier is None:
            return OK, 'waiting for enough samples', values
        status = self._identifier.status()
        values |= {'live': len(status.live), 'parameters': len(status.parameters)}
        held = [p for p in status.parameters if p.state != 'live']
        if held:
            return OK, f'{len(held)} parameters held: {held[0].name} {held[0].reason}', values
        return OK, 'all parameters are updated', values


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(OnlineIdentifierNode))
